"""A Function that returns its input, or a view of it, and a write into that."""
import torch

class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2

x = torch.ones(2, requires_grad=True)
y = Same.apply(x)
y is x
y
y._base is x
y.is_leaf
y.add_(1)
y.sum().backward()
x.grad
class View(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(-1)
    @staticmethod
    def backward(ctx, g):
        return g.view(2, 2)

c = torch.ones(2, 2, requires_grad=True).clone()
v = View.apply(c)
v._is_view()
v.mul_(2)
v.sum().backward()
