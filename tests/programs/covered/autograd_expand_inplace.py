"""Writes into an expanded tensor: which are refused and which are not."""
import torch

a = torch.zeros(1, 3)
b = a.expand(2, 3)
b.add_(1)
b.mul_(2)
b[0] = 1
b
b.copy_(torch.ones(2, 3))
b.zero_()
b.fill_(3)
a
b.clone().add_(1)
torch.add(b, 1, out=b)
b.index_add_(0, torch.tensor([0]), torch.ones(1, 3))
b.masked_fill_(b > 0, 1)
b.scatter_(0, torch.tensor([[0, 0, 0]]), 1.0)
b.sort()
b.t_().stride()
