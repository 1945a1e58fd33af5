"""Expanded inplace."""
import torch
x = torch.zeros(1, 3)
y = x.expand(2, 3)
y.add_(1)
y += 1
y[0] = 5
y
y[0, 0] = 9
x
y.zero_()
y.fill_(3)
y.copy_(torch.ones(2, 3))
y.mul_(2)
y.clone().add_(1)
x
torch.add(x, 1, out=y)
a = torch.arange(5.)
a[1:] = a[:-1]
a
a[1:].copy_(a[:-1])
a[1:] += a[:-1]
a[1:].add_(a[:-1].clone())
a.as_strided((4, 2), (1, 1))
a.as_strided((4, 2), (1, 1)).add_(1)
a.as_strided((10,), (1,))
a.as_strided((2,), (-1,))
a.unfold(0, 3, 1).mul_(2)
