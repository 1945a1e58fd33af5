"""Bytes that are read as bools are true unless 0, in a sort and a flip too."""

import torch

b = torch.tensor([1.0, 2.0, 3.0]).view(torch.bool)
b.tolist()
b.sort(stable=True)
b.argsort(descending=True, stable=True)
b.flip(0).view(torch.uint8), b.sort()[0].view(torch.uint8)
