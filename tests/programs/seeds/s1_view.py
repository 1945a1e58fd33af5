"""A view is a new tensor over the same memory."""
import torch

torch.manual_seed(0)
x = torch.rand(2, 2)
y = x.view(4)
print(x)
x += 1
print(x)
print(y)
print(x is y, id(x) == id(y), x.data_ptr() == y.data_ptr())
print(y.shape, y.stride(), y._base is x)
