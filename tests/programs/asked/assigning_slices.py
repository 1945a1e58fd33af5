"""Assigning slices."""
import torch
x = torch.zeros(2, 3)
x[0] = 1
x[:, 1] = torch.tensor([5., 6.])
x[1, 2] = 7
x[..., 0] = -1
x
x[[0, 1], [0, 2]] = torch.tensor([10., 20.])
x
x[x > 5] = 0
x
x[0, :2] += 1
x
x[torch.tensor([0, 0])] += 1
x
x[:] = 3
x
x[0] = [1, 2, 3]
x[0] = torch.tensor([1, 2, 3])
x[0] = (1., 2., 3.)
x
x[0] = "a"
x[0] = None
x[0, 0] = torch.tensor([5.])
x[0, 0] = float("nan")
x[None] = 0
x[1:, ::2] = 9
x
i = torch.tensor([1, 2, 3])
i[0] = 2.7
i
i[0] = True
i[torch.tensor([True, False, True])] = torch.tensor([7, 8])
i
i[torch.tensor([True, False, True])] = torch.tensor([7., 8.])
i[[True, False, False]] = 100
i
i[-1] = 2 ** 40
i
b = torch.zeros(2, dtype=torch.bool)
b[0] = 2
b
b += 1
u = torch.zeros(2, dtype=torch.uint8)
u[0] = 255
u += 1
u
u[1] = -1
u[1] = 256
u
