"""A write into a view is written into the history of its base, as CopySlices."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 1
v = y[:2]
s = y[1:]
v.mul_(10)
print(y)
print(v)
print(s.grad_fn.name())
y.sum().backward()
print(x.grad)
