"""Ints, slices, None, lists and masks in one index."""
import torch

x = torch.arange(24).view(2, 3, 4)
x[0, [0, 2]].shape, x[:, [0, 2], 1:3].shape, x[[0, 1], :, [1, 2]].shape, x[:, [0], [1]].shape, x[[0], :, 0].shape
x[[[0], [1]], [0, 2]].shape, x[..., [0, 1]].shape, x[None, [0]].shape, x[[0], None, [1]].shape, x[:, None, [0, 1]].shape
x[[0, 1], [0, 1, 2]]
x[[2]]
x[[-3]]
x[:, [3]]
x[[True, False]]
x[[True, False, True]]
x[torch.tensor([True, False]), 0]
x[torch.tensor([[True, False, True], [False, True, False]])]
x[torch.ones(2, 4, dtype=torch.bool)]
x[torch.ones(3, dtype=torch.bool)]
x[:, torch.tensor([True, False, True])].shape
x[torch.tensor([0.5])]
x[torch.tensor([0, 1], dtype=torch.int32)].shape
x[torch.tensor([0, 1], dtype=torch.int16)].shape
x[torch.tensor([0, 1], dtype=torch.uint8)].shape
x[True].shape, x[False].shape, x[torch.tensor(True)].shape, x[None].shape
x[(0, 1)], x[(0,), (1,)], x[[0, 1], ...].shape
x[[]].shape, x[[], :].shape, x[torch.empty(0, dtype=torch.long)].shape
x[0, :, True].shape
x[slice(None), 0], x[slice(0, 1), ..., None].shape
import numpy as np
x[np.array([0, 1]), 0], x[np.int64(1), 2, np.array(3)]
x[range(1)].shape
x[torch.tensor([[0, 1]]), torch.tensor([[0], [1]])].shape
