"""A copy in another shape: clone first, then view. Only x sees the += 1."""
import torch

torch.manual_seed(0)
x = torch.rand(2, 2)
x_cp = x.clone().view(4)
x += 1
print(id(x) == id(x_cp), x.data_ptr() == x_cp.data_ptr())
print(x)
print(x_cp)
print(x_cp.shape)
