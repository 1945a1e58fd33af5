"""x.data = y swaps storage and shape, but x keeps its counter, still shared with its old views."""
import torch

x = torch.zeros(3)
v = x[:2]
y = torch.ones(2, 2)
x.data = y
print(x, v)
print(x.data_ptr() == y.data_ptr())
v.add_(5)
print(x._version, v._version, y._version)
