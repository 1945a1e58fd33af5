"""Views that may not be written to, and what torch says."""
import torch

x = torch.ones(4, requires_grad=True)
x[:2].add_(1)
y = x * 1
a, b = y.split(2)
a.mul_(2)
for part in y.unbind():
    part.zero_()
with torch.no_grad():
    n = y[:2]
n.add_(1)
y.add_(1)
n.grad_fn
n.requires_grad
with torch.inference_mode():
    i = y[:2]
i.mul_(2)
torch.ones(3).expand(2, 3).add_(1)
z = torch.arange(5.)
z[1:].copy_(z[:-1])
z[1:] = z[:-1]
z.copy_(z)._version
w = torch.zeros(4).as_strided((3, 2), (1, 1))
w.add_(torch.arange(6.).view(3, 2))
torch.arange(6.).view(2, 3).t().view(6)
torch.ones(2, 3).view(4, 2)
torch.ones(2, 3).expand(3, 3)
torch.ones(2, 3).narrow(0, 1, 2)
torch.ones(2, 3).permute(0, 0)
