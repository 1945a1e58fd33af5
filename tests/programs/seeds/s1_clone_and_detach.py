"""Side by side: one write through .data of the source, one in place into the clone."""
import torch

a = torch.tensor(1.0, requires_grad=True)
b = a.clone()
c = a.detach()
a.data *= 3
b += 1
print(a)
print(b)
print(c)
