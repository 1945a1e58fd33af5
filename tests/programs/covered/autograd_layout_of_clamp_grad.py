"""The layout of a gradient that went through clamp."""
import torch

x = torch.arange(6.0).view(3, 2).t().chunk(2, 0)[0].requires_grad_()
y = x.clamp(-1, 1)
torch.autograd.grad(y, x, torch.ones_like(y))[0].stride()
x.register_hook(lambda g: None)
len(x._backward_hooks), type(x._backward_hooks).__name__
z = torch.arange(6.0).view(3, 2).t()[:1].requires_grad_()
torch.autograd.grad((z ** 2).sum(), z)[0].stride(), torch.autograd.grad((z ** 3).sum(), z)[0].stride()
