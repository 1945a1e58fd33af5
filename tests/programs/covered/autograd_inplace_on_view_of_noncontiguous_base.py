"""Writes into views of a transposed base, and the layout of the gradients."""
import torch

x = torch.arange(6., requires_grad=True)
base = (x * 1).view(2, 3).t()
v = base[1]
v.mul_(torch.tensor([2., 3.]))
base
base.sum().backward()
x.grad
w = torch.arange(4.).view(2, 2).t().requires_grad_()
z = w.clone()
z.stride()
z[0] = 5
z.sum().backward()
w.grad, w.grad.stride()
