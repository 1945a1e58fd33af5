"""Gradients of operations with many outputs of which few are used."""
import torch

x = torch.arange(4., requires_grad=True)
a, b, c, d = x.unbind()
a.sum().backward()
x.grad
v = x.clone().view(2, 2)
i = v.topk(1)
i
i.values.sum().backward()
x.grad
s = x.sort(descending=True)
s.values.grad_fn, s.indices.grad_fn
s.indices.requires_grad
