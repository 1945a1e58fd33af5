"""Retain grad inplace."""
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
y.retain_grad()
y.add_(1)
y.mul_(3)
y.sum().backward()
y.grad
x.grad
y = x * 2
y.register_hook(lambda g: print("hook", g))
y.mul_(5)
y.sum().backward()
z = x * 2
v = z[0]
v.retain_grad()
z.sum().backward()
v.grad
z = x * 2
v = z[0]
v.retain_grad()
(v * 3).backward()
v.grad
x.grad.zero_()
x.retain_grad()
x.retains_grad, y.retains_grad
a = torch.ones(2, requires_grad=True)
b = a.view(1, 2)
b.retain_grad()
b.sum().backward()
b.grad.shape, a.grad.shape
