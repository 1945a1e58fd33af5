"""Gradients through unfold and the diagonals, and the arguments these refuse."""
import torch

x = torch.arange(7., requires_grad=True)
u = x.unfold(0, 3, 2)
u
u.backward(torch.ones(3, 3))
x.grad
m = torch.arange(9.).view(3, 3).requires_grad_()
m.diagonal().sum().backward()
m.grad
m.diagonal(1).backward(torch.tensor([5., 6.]))
m.grad
m.diagonal(offset=5)
m.diagonal(0, 0, 0)
x.unfold(0, 8, 1)
x.unfold(0, 3, 0)
x.unfold(0, -1, 1)
x.unfold(1, 3, 1)
torch.tensor(3.).unfold(0, 1, 1)
m.trace().grad_fn
