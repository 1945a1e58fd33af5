"""y = x + y makes a new tensor and binds the name to it; y += x, y[:] = and out= write where y is."""
import torch

x = torch.tensor([1.0, 2.0])
y = torch.tensor([3.0, 4.0])
old = y
y = x + y
print(id(y) == id(old), y.data_ptr() == old.data_ptr())
print(old, y)
old = y
y += x
print(id(y) == id(old), y.data_ptr() == old.data_ptr())
print(old, y)
y[:] = x + y
print(id(y) == id(old), old)
torch.add(x, y, out=y)
print(id(y) == id(old), old)
