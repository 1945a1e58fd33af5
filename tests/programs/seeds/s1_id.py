"""id() tells objects apart, not memories: write through one and look at the other."""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.detach()
print(id(a) == id(b))
print(a is b)
b[0] = 50.0
print(a)
print(a.data_ptr() == b.data_ptr())
c = a.clone()
print(id(a) == id(c), a.data_ptr() == c.data_ptr())
