"""A write through a view gives the plain base a history."""
import torch

a = torch.zeros(3)
b = torch.ones(3, requires_grad=True)
v = a[:2]
a.is_leaf, v.is_leaf
v.add_(b[:2])
a.is_leaf, a.requires_grad, v.is_leaf
a.sum().backward()
b.grad
a.grad
a.requires_grad_(False)
