"""What a Function's backward may return, and what it is told when it returns something else."""
import torch
from torch.autograd import Function

x = torch.tensor([1., 2.], requires_grad=True)

def returning(value):
    class Back(Function):
        @staticmethod
        def forward(ctx, *inputs):
            return inputs[0] * 2
        @staticmethod
        def backward(ctx, grad):
            return value(grad) if callable(value) else value
    return Back

def attempt(value, *more):
    x.grad = None
    returning(value).apply(x, *more).sum().backward()
    return x.grad

attempt(None)
attempt(3)
attempt("a")
attempt(lambda g: (g, g))
attempt(lambda g: (g, None, None))
attempt(lambda g: ())
attempt(lambda g: [g])
attempt(lambda g: g.sum())
attempt(lambda g: torch.ones(3))
attempt(lambda g: torch.ones(2, 2))
attempt(lambda g: g.double())
attempt(lambda g: g.long())
attempt(lambda g: g, 3)
attempt(lambda g: (g, g), 3)
attempt(lambda g: (g, None), 3)
attempt(lambda g: (g, g), x.detach())
attempt(lambda g: (None, g), x)

class NoForward(Function):
    pass

NoForward.apply(x)

class NoBackward(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

NoBackward.apply(x).sum().backward()

class Fails(NoBackward):
    @staticmethod
    def backward(ctx, grad):
        raise ValueError("mine")

Fails.apply(x).sum().backward()

class Both(Fails):
    @staticmethod
    def vjp(ctx, grad):
        return grad

Both.apply(x).sum().backward()
