"""A detached tensor is a leaf: with requires_grad_() it takes part in a graph of its own."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x * 2).detach()
(y * y).requires_grad
y.requires_grad_()
(y * y).sum().backward()
print(y.grad)
print(x.grad)
