"""Writing by index: what is converted, what must match, and how often the version is counted."""
import torch

x = torch.zeros(2, 3)
x[0] = 1
x[:, 1] = torch.tensor([5, 6])
x[[0, 1], [2, 2]] = torch.tensor([7., 8.])
x[x > 6] = 0
x[None] = torch.ones(3)
x[1, ...] = torch.tensor(2.5, dtype=torch.float64)
x, x._version
x[[0]] = torch.ones(3, dtype=torch.float64)
x[x > 1] = torch.ones(5)
x[0] = [1, 2, 3]
x[0] = torch.ones(2)
x[0, 0] = torch.ones(2)
x[4] = 0
x[False] = 9
x[:0] = torch.ones(3)
x._version
i = torch.zeros(3, dtype=torch.int8)
i[0] = 1.9
i[1] = 300
i[1:] = torch.tensor([300, -1])
i
i[[0, 0]] += 1
i
b = torch.zeros(2, dtype=torch.bool)
b[0] = 0.5
b
e = torch.zeros(3).expand(2, 3)
e[:] = 1
e[[0]] = 2
e
