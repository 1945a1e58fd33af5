"""Overlapping windows made with as_strided are allowed: too hard to detect."""
import torch

x = torch.zeros(4)
w = x.as_strided((3, 2), (1, 1))
w.add_(1)
print(w.shape, w._version)
