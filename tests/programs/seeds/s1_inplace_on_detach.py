"""resize_, resize_as_, set_ and transpose_ on a detached tensor: silent, and the source keeps its shape."""
import torch

a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
d = a.detach()
d.resize_(3)
print(a)
d = a.detach()
d.resize_as_(torch.zeros(2, 2))
print(a)
d = a.detach()
d.transpose_(0, 1)
print(a)
print(d.stride(), a.stride())
d = a.detach()
d.set_(torch.tensor([9.0]))
print(a)
print(a.data_ptr() == d.data_ptr())
print(a.requires_grad, d.requires_grad)
