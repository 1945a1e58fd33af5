"""A flip is a copy, also where one row that stands for many is all that it turns."""

import torch

row = torch.ones(3).expand(2, 3)[:1]
turned = row.flip(0)
turned.zero_()
row, turned.stride(), turned.data_ptr() == row.data_ptr()
torch.tensor(2.0).flip([])
