"""A write into a view of a view of a view, and the history of each on the way."""
import torch

x = torch.zeros(2, 3, requires_grad=True)
y = x + 1
a = y.view(-1)
b = a[1:5]
c = b.view(2, 2)
d = c.t()
d[0].mul_(10)
y
d.grad_fn, c.grad_fn, b.grad_fn, a.grad_fn, y.grad_fn
y.grad_fn.next_functions[0][0].name()
d._version, y._version, a._base is y, d._base is y
y.backward(torch.arange(6.).view(2, 3))
x.grad
