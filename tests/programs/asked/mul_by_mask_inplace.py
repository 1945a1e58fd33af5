"""Mul by mask inplace."""
import torch
x = torch.randn(3, requires_grad=True).detach().requires_grad_()
with torch.no_grad():
    x.copy_(torch.tensor([1., -2., 3.]))
mask = torch.tensor([1., 0., 1.])
y = x.clone()
y *= mask
y
y.sum().backward()
x.grad
y = x * 2
y.mul_(mask)
y.grad_fn
y.grad_fn.next_functions
z = x * x
z.masked_fill_(mask == 0, 100.)
z
z.sum().backward()
x.grad
w = x.clone()
w.mul_(w)
w
w.sum().backward()
v = x * 1
v.add_(v)
v.sum().backward()
x.grad
u = x + 0
u[mask.bool()] *= 10
u
u.sum().backward()
x.grad
