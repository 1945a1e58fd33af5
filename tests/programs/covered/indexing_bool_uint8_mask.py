"""Masks of bool and of uint8, and arithmetic with bools."""
import torch

x = torch.arange(4)
m = torch.tensor([1, 0, 1, 0], dtype=torch.uint8)
x[m]
x[m] = 9
x
x.masked_fill(m, 0)
torch.where(m, x, x)
m & 1, ~m, m ^ 1, m | 4, m << 1, m >> 1
~torch.tensor([True, False]), torch.tensor(True) & 1, torch.tensor([True]) ^ True
~torch.tensor([1.0])
torch.tensor([1.0]) & 1
torch.tensor([True]) - torch.tensor([True])
1 - torch.tensor([True])
-torch.tensor([True])
+torch.tensor([True])
torch.tensor([True]) + True, torch.tensor([True]) * 2, torch.tensor([True]) / 2, torch.tensor([True]) ** 2
torch.tensor([True]) << 1
