"""Augmented assignment through lists and masks."""
import torch

x = torch.zeros(4)
x[[0, 0, 1]] += 1
x
x[torch.tensor([2, 2])] = torch.tensor([5., 6.])
x[2] in (5., 6.)
x[x == 0] -= 1
x
y = x[[0, 1]]
y.zero_()
x
x[1:3][[0]] = 50
x
x.index_fill_(0, torch.tensor([3]), 9)[0]
m = torch.zeros(2, 3)
m[:, [0, 2]] = torch.tensor([1., 2.])
m[[0, 1], 1] = torch.tensor([3., 4.])
m[torch.tensor([True, False])] *= 10
m
m[:, [0, 2]] = torch.ones(3, 2)
m[[0, 1]] = torch.ones(2)
m[m > 100] = torch.ones(5)
m[0][m[0] > 5] = 0
m
m[[0]] = m[[1]]
m
m._version
