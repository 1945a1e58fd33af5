"""The usual losses in every reduction."""
import torch

import torch.nn.functional as F
from torch import nn
x = torch.tensor([0.5, -1., 2.], requires_grad=True)
y = torch.tensor([1., 0., 2.5])

F.mse_loss(x, y, reduction="foo")
F.mse_loss(x, torch.ones(1))
F.mse_loss(x, torch.ones(2))
F.l1_loss(x, torch.ones(1, 3))
F.mse_loss(x, y, size_average=False)
F.mse_loss(x, y).backward()
x.grad
F.binary_cross_entropy(torch.tensor([0.5, 1., 0.]), torch.tensor([1., 0., 0.])), F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.]), weight=torch.tensor([2.]))
F.binary_cross_entropy(torch.tensor([1.5]), torch.tensor([1.]))
F.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([[1.]]))
F.binary_cross_entropy_with_logits(x, y, pos_weight=torch.tensor([2.]))
nn.MSELoss(reduction="sum")(x, y), nn.L1Loss()(x, y), nn.BCEWithLogitsLoss()(x, y)
