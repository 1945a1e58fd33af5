"""The same four on .data: silent as well."""
import torch

a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
a.data.resize_(3)
a.data.resize_as_(torch.zeros(2, 2))
a.data.transpose_(0, 1)
a.data.set_(torch.tensor([9.0]))
print(a)
print(a.shape, a.stride(), a._version)
