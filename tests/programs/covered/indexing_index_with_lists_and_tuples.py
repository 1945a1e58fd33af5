"""Lists, nested lists, tuples and masks as indices."""
import torch

x = torch.arange(12).view(3, 4)
x[[0, 2]], x[(0, 2)], x[[0, 2], [1, 3]], x[[[0, 2], [1, 3]]], x[[[0, 2]]], x[[0], :], x[[True, False, True]], x[[True, False, True], 1:3]
x[[0, 1.5]]
x[["a"]]
x[[None]]
x[[[0, 1], 2]]
x[torch.tensor([[0, 1], [2, 0]])].shape, x[torch.tensor([0, 2]), torch.tensor([1, 3])], x[torch.tensor([[0], [2]]), torch.tensor([1, 3])]
x[torch.tensor([0, 2]), :2], x[1:, torch.tensor([0, 3])], x[torch.tensor(1), torch.tensor([0, 1])]
x[x % 2 == 0], x[(x > 3) & (x < 9)], x[x > 100], x[~(x > 2)]
x[x > 3, 0]
x[torch.tensor([True, False, True]), torch.tensor([True, False, True, False])]
x[torch.tensor([True, False, True]), torch.tensor([True, False, True, True])]
