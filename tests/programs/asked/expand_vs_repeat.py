"""Expand vs repeat."""
import torch
x = torch.tensor([[1], [2], [3]])
x.expand(3, 4)
x.expand(-1, 4)
x.expand(3, 4).stride()
x.repeat(1, 4)
x.repeat(1, 4).stride()
x.expand(2, 3, 4).shape
x.expand(4, 4)
x.expand(3)
x.repeat(2)
x.repeat(2, 2, 2).shape
x.expand(3, 4)[0, 0] = 10
x
e = x.expand(3, 4)
e[0, 0] = 20
e
e += 1
e.add_(torch.ones(3, 4, dtype=torch.int64))
e.contiguous().add_(1)
x.repeat_interleave(2, dim=0)
torch.repeat_interleave(torch.tensor([1, 2, 3]), torch.tensor([3, 1, 2]))
torch.tile(torch.tensor([1, 2]), (2, 2))
x.expand_as(torch.zeros(3, 2))
