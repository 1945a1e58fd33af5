"""A clone has a .grad if it is told to keep one, and if there is a gradient to keep."""
import torch

a = torch.tensor(1.0, requires_grad=True)
c = a.clone()
c.retain_grad()
(c * 3).backward()
print(c.grad)
print(a.grad)
p = torch.tensor(1.0)
d = p.clone()
d.retain_grad()
print(d.grad)
