"""once_differentiable raises in the second backward."""
import torch
from torch.autograd.function import once_differentiable

class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g

x = torch.tensor(3., requires_grad=True)
(g,) = torch.autograd.grad(Square.apply(x), x, create_graph=True)
print(g.requires_grad)
one = torch.ones((), requires_grad=True)
(g,) = torch.autograd.grad(Square.apply(x) * one, x, create_graph=True)
print(g.requires_grad)
g.backward()
