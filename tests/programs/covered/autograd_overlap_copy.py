"""Memory that source and target share: copy_, in-place operations and out=."""
import torch

a = torch.arange(5.)
a[1:].copy_(a[:-1])
a[1:].add_(a[:-1])
a[1:] = a[:-1]
a.copy_(a)
torch.add(a[:-1], 1, out=a[1:])
torch.add(a, a, out=a)
a[:4].mul_(a[:4])
torch.neg(a[1:], out=a[:-1])
a.add_(a.flip(0))
torch.cumsum(a, 0, out=a)
b = torch.arange(4.).view(2, 2)
b.copy_(b.t())
b.add_(b.t())
