"""A resize_ that grows moves the storage for everyone who shares it."""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
d = a.detach()
print(a.untyped_storage().nbytes())
d.resize_(4)[2:].zero_()
print(d)
print(a.untyped_storage().nbytes(), d.untyped_storage().nbytes())
print(a.data_ptr() == d.data_ptr())
d[0] = 70.0
print(a)
print(a.shape, d.shape)
