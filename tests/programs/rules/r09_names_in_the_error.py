"""The in-place error names the node without a suffix, and with its namespace where it has one."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
e = x.exp()
e.add_(1)
e.sum().backward()
y = x * 1
y[:1].mul_(2)
z = y * y
y.detach().add_(1)
z.sum().backward()
y = x * 1
v = y[:1]
y.detach().add_(1)
z = v * v
y.detach().add_(1)
z.sum().backward()
w = x.clone()
z = w ** 2
w.zero_()
z.sum().backward()
