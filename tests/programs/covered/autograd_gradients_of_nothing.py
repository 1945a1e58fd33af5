"""Gradients of tensors without elements, and of data replaced by a single number."""
import torch

x = torch.ones(0, 3, requires_grad=True)
x.relu().sum().backward()
x.grad
y = torch.full((3,), 0.5, requires_grad=True)
z = y.clamp(-1, 1)
y.data = torch.tensor(1.5)
z.backward(torch.ones(3))
y.grad
w = torch.ones(0, 3, requires_grad=True)
t = w.t()
(t * t).sum().backward()
w.grad.stride(), w.grad._version
