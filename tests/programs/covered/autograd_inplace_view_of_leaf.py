"""Writes into a leaf's views: refused with grad, counted without."""
import torch

a = torch.ones(3, requires_grad=True)
b = a.view(3)
b.add_(1)
a[0].fill_(2)
with torch.no_grad():
    a[0].fill_(2)
    a.mul_(3)

a, a._version
a.view(3).zero_()
a.detach().zero_()
a
a._version
