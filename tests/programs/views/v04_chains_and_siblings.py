"""A write through one view of several: who gets which history, and where the gradients go."""
import torch

x = torch.arange(6., requires_grad=True)
y = (x * 1).view(2, 3)
row, column, part = y[0], y[:, 1], y[:, 1:][1]
row.mul_(10)
[t.grad_fn.name() for t in (row, column, part, y)]
column.add_(row[:2])
part[0] = 100
[t._version for t in (row, column, part, y)]
print(y)
y.sum().backward()
x.grad
b = x.detach().clone()
w = b[2:4]
b.mul_(x)
w.requires_grad, w.is_leaf
w.grad_fn.name()
w.sum().backward()
x.grad
