"""Gradients through cat and stack, of mixed dtypes and of a tensor given twice."""
import torch

a = torch.ones(2, requires_grad=True)
b = torch.ones(3, dtype=torch.double, requires_grad=True)
c = torch.cat([a, b, a])
c
c.backward(torch.arange(7.).double())
a.grad, b.grad
s = torch.stack([a, a * 2], 1)
s.grad_fn.next_functions
s[0, 1].backward()
a.grad
torch.hstack([a, a]).grad_fn, torch.vstack([a, a]).grad_fn
m, n = torch.stack([a, a])
m.grad_fn
