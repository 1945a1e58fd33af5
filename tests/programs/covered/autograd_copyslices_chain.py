"""Two writes into views of one base make a chain of CopySlices."""
import torch

x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
y = x * 2
v = y[0]
w = v[1:]
w.mul_(3)
y
v
w
y.grad_fn, v.grad_fn, w.grad_fn
y.grad_fn.next_functions
v.add_(x[1])
y
y.grad_fn.next_functions
y.sum().backward()
x.grad
