"""Gradients of cumsum, cummax, cummin, cumprod, logcumsumexp and diff."""
import torch

x = torch.tensor([3., 1., 2., 5., 4.], requires_grad=True)
x.cumsum(0).backward(torch.arange(5.))
x.grad
x.grad = None
x.cumprod(0).backward(torch.ones(5))
x.grad
