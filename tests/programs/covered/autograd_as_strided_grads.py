"""Gradients through as_strided, overlapping windows included, and the geometries it refuses."""
import torch

x = torch.arange(6., requires_grad=True)
y = x.as_strided((3, 2), (1, 1))
y
y.sum().backward()
x.grad
x.grad = None
z = x.as_strided((2, 2), (0, 1), 2)
z.backward(torch.tensor([[1., 2.], [3., 4.]]))
x.grad
b = torch.arange(6.).view(2, 3).t().requires_grad_()
b.as_strided((4,), (1,), 1).backward(torch.arange(4.))
b.grad
b.grad.stride()
torch.ones(3).as_strided((2, 2), (2, 1), 1)
torch.ones(3).as_strided((2,), (1, 1))
torch.ones(3).as_strided((2,), (-1,))
torch.ones(3).as_strided((-2,), (1,))
torch.ones(3).as_strided((2,), (1,), -1)
c = torch.zeros(4).as_strided_((2, 2), (1, 2))
c, c._version
