"""Inplace on view graph."""
import torch
a = torch.ones(4, requires_grad=True)
b = a * 2
v = b[:2]
v.mul_(3)
b
v
b.grad_fn, v.grad_fn
b.sum().backward()
a.grad
b = a * 2
v1, v2 = b.chunk(2)
v1.mul_(3)
v1 = b[:2]
v1.add_(1)
b.grad_fn.next_functions
b = a * 2
r = b.view(2, 2)
b.mul_(2)
r
r.grad_fn
r.sum().backward()
a.grad
t = b.t() if b.dim() == 2 else b.view(2, 2).t()
t[0] = 0
b
a.view(2, 2).add_(1)
b.unbind(0)[0].add_(1)
with torch.no_grad():
    nv = b[:2]
nv.add_(1)
nv.requires_grad
