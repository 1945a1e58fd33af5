"""Bytes that make a signalling nan are a nan like any other, with no word from NumPy."""

import torch

x = torch.tensor([1.0, 2.0, 3.0])
bits = x.view(torch.uint8)
torch.cumsum(bits, 0, out=bits)
x
x.expand(2, 3).all(0), x.any(), x.all(), x.max(), x.isnan(), x.amin(), x.double()
