"""detach is a method, data an attribute; neither copies data, both make a new tensor object."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x.detach()
print(y)
d = x.data
print(d)
print(callable(x.detach), callable(x.data))
print(x.data_ptr() == y.data_ptr(), x.data_ptr() == d.data_ptr())
print(x.data is x.data, x.detach() is x.detach(), x.data is x)
d[0] = 50.0
print(x, y)
