"""Source and detached tensor are one memory: what is written through one is read through the other."""
import torch

a = torch.tensor(1.0, requires_grad=True)
a_ = a.detach()
print(a)
print(a_)
a_ += 1
print(a)
print(a_)
a.data *= 2
print(a)
print(a_)
print(a.data_ptr() == a_.data_ptr())
