"""Source and target that overlap in part raise; a copy onto itself works, and bumps the version."""
import torch

a = torch.arange(4.)
a[1:].copy_(a[:-1])
print(a, a._version)
a.copy_(a)
print(a, a._version)
