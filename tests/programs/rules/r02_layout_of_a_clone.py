"""clone() keeps a dense permuted layout; a strided slice becomes dense."""
import torch

x = torch.arange(12.).view(3, 4)
print(x.t().clone().stride())
print(x[:, ::2].clone().stride())
print(x.t()[::2].clone().stride())
print(x.t().clone(memory_format=torch.contiguous_format).stride())
print(torch.ones(1, 3).expand(4, 3).clone().stride())
