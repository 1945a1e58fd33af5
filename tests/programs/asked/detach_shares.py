"""Detach shares."""
import torch
a = torch.arange(5., requires_grad=True)
b = a ** 2
c = b.detach()
c[0] = 100
b
b._version, c._version
b.sum().backward()
a.grad
d = a.detach()
d.zero_()
a
e = a.exp()
e.detach().add_(1)
e.sum().backward()
f = a.exp()
f.data.add_(1)
f.sum().backward()
a.grad
a.detach().numpy()[0] = 42
a
a.data is a.data, a.detach() is a.detach()
a.detach_()
b.detach_()
b.requires_grad, b.grad_fn
(a * 2).view(5).detach_()
