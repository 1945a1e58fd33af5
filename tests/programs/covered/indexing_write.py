"""Assigning through every kind of index."""
import torch

x = torch.zeros(3, 4)
x[0] = 1
x[:, 1] = torch.tensor([5., 6., 7.])
x[[0, 2], [3, 3]] = torch.tensor([8., 9.])
x
x[x > 5] = -1
x
x[1:, 2:] = torch.ones(2, 1)
x[...] = 2
x[0] = torch.ones(3)
x[[0, 1]] = torch.ones(3)
x[0, 0] = torch.ones(2)
x[0, 0] = torch.ones(1)
x[0] = "a"
x[0] = [1, 2, 3, 4]
x[0] = None
x[x > 1] = torch.ones(3)
x[torch.tensor([True, False, True])] = torch.arange(4.)
x
x[0] = torch.tensor([1, 2, 3, 4])
x[[0]] = torch.tensor([[1, 2, 3, 4]])
x[[0]] = 5
x[0, 1] = 3.7
y = torch.zeros(3, dtype=torch.int64)
y[0] = 3.7
y[1:] = torch.tensor([2.5, 3.5])
y
y[[0]] = 2.5
y[[0]] = torch.tensor([2.5])
y[y > 2] = 9.9
y
y[0] = float("nan")
y[0] = True
z = torch.zeros(2, dtype=torch.bool)
z[0] = 5
z
x[[0, 0]] = torch.tensor([[1.], [2.]])
x[0]
x[:, :, 0] = 1
x[5] = 1
x[[5]] = 1
x[()] = 4
x[0][1] = 100
x[[0]][0] = 7
x
x[None] = 0
x[torch.tensor([], dtype=torch.long)] = 3
x[True] = 1
x[False] = 2
x
