"""Indices that do not fit: too large for 64 bits, bytes, slices cut off, several bad ones at once."""
import torch
import numpy as np
grid = torch.arange(12).reshape(3, 4)
grid[10 ** 20]
grid[0, 2 ** 63]
grid[b"1"]
grid["1"]
grid[:-10 ** 20]
grid[10 ** 20:]
grid[1.]
grid[np.bool_(True)]
grid[[0, 9], [9, 0]]
grid[[9, 0], [0, 9]]
grid[torch.tensor([[0], [7]]), torch.tensor([1, -5])]
grid[torch.tensor([0, 1], dtype=torch.int8)]
grid[torch.tensor([1., 0.])]
grid[torch.tensor([True, False])]
grid[:, torch.tensor([True, False, True])]
grid[torch.zeros(3, 5, dtype=torch.bool)]
grid[0, 0, 0]
grid[..., 0, ..., 1]
grid[{"row": 1}]
grid.t()[None, [0, 2]].stride()
mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
row = torch.arange(3., requires_grad=True)
copy = row * 1
copy[mask] = torch.tensor([5., 6.])
copy
torch.autograd.grad(copy.sum(), row)
