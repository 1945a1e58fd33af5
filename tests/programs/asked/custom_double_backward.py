"""Custom double backward."""
import torch
class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result
    @staticmethod
    def backward(ctx, g):
        result, = ctx.saved_tensors
        return g * result
x = torch.tensor([1., 2.], dtype=torch.double, requires_grad=True)
y = Exp.apply(x)
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
g
torch.autograd.grad(g.sum(), x)
torch.autograd.gradcheck(Exp.apply, (x,))
torch.autograd.gradgradcheck(Exp.apply, (x,))
from torch.autograd.function import once_differentiable
class Once(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        return i * 2
    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 2
g, = torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
g
g.sum().backward()
class Wrong(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        return i * 2
    @staticmethod
    def backward(ctx, g):
        return g * 3
torch.autograd.gradcheck(Wrong.apply, (x,))
torch.autograd.gradcheck(Wrong.apply, (x,), raise_exception=False)
torch.autograd.gradcheck(lambda t: t ** 2, (x.detach(),))
torch.autograd.gradcheck(lambda t: t ** 2, (x.float(),), eps=1e-3, atol=1e-2, rtol=1e-2)
