"""A clone of a plain tensor takes all four."""
import torch

a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
a.clone().resize_(3)
a.clone().resize_as_(torch.zeros(2, 2))
a.clone().transpose_(0, 1)
a.clone().set_(torch.tensor([9.0]))
print(a)
