"""A loss that silently broadcasts."""
import torch
import torch.nn.functional as F
pred = torch.tensor([[1.], [2.], [3.]], requires_grad=True)
y = torch.tensor([1., 2., 3.])
(pred - y).shape
F.mse_loss(pred, y)
F.mse_loss(pred.squeeze(), y)
F.mse_loss(pred, y.unsqueeze(1))
F.l1_loss(pred, y)
((pred - y) ** 2).mean().backward()
pred.grad
pred == y
(pred.squeeze(1) == y).all()
