"""forward without ctx, next to setup_context; and a backward that may be gone through only once."""
import torch
from torch.autograd import Function
from torch.autograd.function import once_differentiable

class Cube(Function):
    @staticmethod
    def forward(x, k=1):
        return x ** 3 * k, x * x
    @staticmethod
    def setup_context(ctx, inputs, output):
        print("setup", torch.is_grad_enabled(), inputs, output, ctx.needs_input_grad)
        ctx.k = inputs[1]
        ctx.save_for_backward(inputs[0], output[1])
    @staticmethod
    def backward(ctx, g, h):
        x, square = ctx.saved_tensors
        return g * 3 * square * ctx.k + h * 2 * x, None

x = torch.tensor([1., 2.], requires_grad=True)
a, b = Cube.apply(x)
print(a, b)
g, = torch.autograd.grad(a.sum() + b.sum(), x, create_graph=True)
g
torch.autograd.grad(g.sum(), x)
a, b = Cube.apply(x, k=2)
Cube.apply()
Cube.apply(x, q=3)

class Once(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    @once_differentiable
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]

torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)
start = torch.ones(2, requires_grad=True)
g, = torch.autograd.grad(Once.apply(x), x, start, create_graph=True)
print(g, g.grad_fn.name())
g.sum().backward()
