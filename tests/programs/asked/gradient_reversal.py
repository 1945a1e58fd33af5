"""Gradient reversal."""
import torch
class GradReverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)
    @staticmethod
    def backward(ctx, grad_output):
        return grad_output.neg() * ctx.lambd, None
x = torch.ones(2, requires_grad=True)
y = GradReverse.apply(x, 0.5)
y
y.sum().backward()
x.grad
y.add_(1)
class Ident(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, g):
        return g * 2
i = Ident.apply(x)
i
i is x
i.add_(1)
i.sum().backward()
x.grad
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, s):
        ctx.save_for_backward(x, s)
        return x * s
    @staticmethod
    def backward(ctx, g):
        x, s = ctx.saved_tensors
        gx = gs = None
        if ctx.needs_input_grad[0]:
            gx = g * s
        if ctx.needs_input_grad[1]:
            gs = (g * x).sum()
        return gx, gs
s = torch.tensor(3., requires_grad=True)
Scale.apply(x, s).sum().backward()
s.grad, x.grad
