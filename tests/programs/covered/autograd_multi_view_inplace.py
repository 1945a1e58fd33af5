"""Writes into what unbind, split and chunk give."""
import torch

x = torch.arange(8., requires_grad=True).view(4, 2).clone()
p, q = x.unbind(1)
p.mul_(2)
a, b = x.split(2)
a.add_(1)
c, d = x.chunk(2)
c.add_(1)
s = x.tensor_split(2)
s[0].zero_()
x.mul_(2)
p.grad_fn
a.sum()
