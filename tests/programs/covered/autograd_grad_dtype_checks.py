"""Gradients of a wrong shape, dtype or type, given to backward or assigned to .grad."""
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
y.backward(torch.ones(2, dtype=torch.float64))
x.grad
y = x * 2
y.backward(torch.ones(3))
y.backward()
y.backward(torch.ones(1, 2))
y.backward(1.0)
y.backward(torch.ones(2, dtype=torch.int64))
x.grad = torch.ones(3)
x.grad = torch.ones(2, dtype=torch.float64)
x.grad = 2
x.grad = x
x.grad = torch.ones(2, requires_grad=True) * 2
x.grad
x.grad = None
x.grad
