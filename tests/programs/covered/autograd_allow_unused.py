"""autograd.grad of an input that the output does not depend on: refused, None, or zeros."""
import torch

x = torch.ones(2, requires_grad=True)
z = torch.ones(3, requires_grad=True)
y = (x * 2).sum()
torch.autograd.grad(y, [x, z])
y = (x * 2).sum()
torch.autograd.grad(y, [x, z], allow_unused=True)
y = (x * 2).sum()
torch.autograd.grad(y, [x, z], materialize_grads=True)
y = (x * 2).sum()
torch.autograd.grad(y, [x, z], allow_unused=False, materialize_grads=True)
torch.autograd.grad(y, [])
torch.autograd.grad(y, z)
torch.autograd.grad([], x)
torch.autograd.grad(y, x.detach())
torch.autograd.grad(x.detach().sum(), x)
