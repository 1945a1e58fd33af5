"""Gradients of prod and cumprod with no, one and two zeros."""
import torch

x = torch.tensor([2., 0., 3.], requires_grad=True)
x.prod().backward()
x.grad
y = torch.tensor([2., 0., 0.], requires_grad=True)
y.prod().backward()
y.grad
z = torch.tensor([[1., 0.], [2., 3.], [0., 0.]], requires_grad=True)
z.prod(1).backward(torch.ones(3))
z.grad
w = torch.tensor([1., 0., 2., 0., 3.], requires_grad=True)
w.cumprod(0).sum().backward()
w.grad
g, = torch.autograd.grad(x.prod(), x, create_graph=True)
torch.autograd.grad(g.sum(), x)
z.prod(0, keepdim=True).grad_fn
x.prod().grad_fn
