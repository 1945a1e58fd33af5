"""gradcheck and gradgradcheck, right and wrong."""
import torch
from torch.autograd import Function, gradcheck, gradgradcheck

x = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
y = torch.tensor([[1., 2.], [3., 4.]], dtype=torch.float64, requires_grad=True)
gradcheck(lambda a: a * a, x)
gradcheck(lambda a, b: (a * b, b.sum()), (x, y))
gradgradcheck(lambda a: a * a * a, x)
gradgradcheck(lambda a, b: a @ b, (y, x))

class Bad(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.save_for_backward(a)
        return a * a
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0] * 3

gradcheck(Bad.apply, x)
gradcheck(Bad.apply, y)
gradcheck(Bad.apply, x, raise_exception=False)

class BadTwice(Bad):
    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0].detach() * 2

gradcheck(BadTwice.apply, x)
gradgradcheck(BadTwice.apply, x, torch.ones(2, dtype=torch.float64, requires_grad=True))

class Constant(Function):
    @staticmethod
    def forward(ctx, a):
        return a.sum()
    @staticmethod
    def backward(ctx, grad):
        return torch.ones(2, dtype=torch.float64)

gradcheck(Constant.apply, x)

class NeedsAGradient(Function):
    @staticmethod
    def forward(ctx, a):
        ctx.set_materialize_grads(False)
        return a * 2
    @staticmethod
    def backward(ctx, grad):
        if grad is None:
            raise RuntimeError("none")
        return grad * 2

gradcheck(NeedsAGradient.apply, x)
gradcheck(NeedsAGradient.apply, x, check_undefined_grad=False)
gradcheck(lambda a: a * 2, torch.ones(2))
gradcheck(lambda a: a.detach() * 2, x)
gradcheck(lambda a: torch.ones(2), x)
gradcheck(lambda a: a * 2, torch.ones(1, dtype=torch.float64, requires_grad=True).expand(3))
gradcheck(lambda a: a * 2, torch.tensor([1., 2.], requires_grad=True))
gradcheck(lambda a, n: a * n, (x, 3))
gradcheck(lambda a: [a * 2, a.exp()], [x])
gradcheck(lambda a: a[0], y.t())
gradcheck(lambda a: a * 2, x, check_backward_ad=False)
print(x, x._version)
