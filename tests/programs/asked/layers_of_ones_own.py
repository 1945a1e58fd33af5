"""Functions and layers of one's own, right ones and the usual wrong ones."""

import torch
import torch.nn as nn
from torch.autograd import Function, Variable
import torch.nn.functional as F
torch.manual_seed(0)
class MyReLU(Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)
    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input
relu = MyReLU.apply
x = torch.randn(4, requires_grad=True)
relu(x)
relu(x).sum().backward()
x.grad
MyReLU()
MyReLU()(x)
class Layer(nn.Module):
    def forward(self, x):
        return MyReLU.apply(x)
nn.Sequential(Layer(), nn.Linear(4, 1))(x)
class LinearFunction(Function):
    @staticmethod
    def forward(ctx, input, weight, bias=None):
        ctx.save_for_backward(input, weight, bias)
        output = input.mm(weight.t())
        if bias is not None:
            output += bias.unsqueeze(0).expand_as(output)
        return output
    @staticmethod
    def backward(ctx, grad_output):
        input, weight, bias = ctx.saved_tensors
        gi = gw = gb = None
        if ctx.needs_input_grad[0]: gi = grad_output.mm(weight)
        if ctx.needs_input_grad[1]: gw = grad_output.t().mm(input)
        if bias is not None and ctx.needs_input_grad[2]: gb = grad_output.sum(0)
        return gi, gw, gb
class MyLinear(nn.Module):
    def __init__(self, i, o, bias=True):
        super().__init__()
        self.i, self.o = i, o
        self.weight = nn.Parameter(torch.empty(o, i))
        if bias:
            self.bias = nn.Parameter(torch.empty(o))
        else:
            self.register_parameter("bias", None)
        nn.init.uniform_(self.weight, -0.1, 0.1)
        if self.bias is not None:
            nn.init.uniform_(self.bias, -0.1, 0.1)
    def forward(self, x):
        return LinearFunction.apply(x, self.weight, self.bias)
    def extra_repr(self):
        return f"input_features={self.i}, output_features={self.o}, bias={self.bias is not None}"
MyLinear(3, 2)
l = MyLinear(3, 2)
out = l(torch.ones(2, 3))
out
out.sum().backward()
l.weight.grad, l.bias.grad
MyLinear(3, 2, False)(torch.ones(1, 3)).grad_fn.next_functions
torch.autograd.gradcheck(LinearFunction.apply, (torch.randn(2, 3, dtype=torch.double, requires_grad=True), torch.randn(2, 3, dtype=torch.double, requires_grad=True)), eps=1e-6, atol=1e-4)
class GradReverse(Function):
    @staticmethod
    def forward(ctx, x, lambd):
        ctx.lambd = lambd
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return g.neg() * ctx.lambd, None
x = torch.ones(2, requires_grad=True)
y = GradReverse.apply(x, 0.5)
y, y._is_view(), y._base is x
y.sum().backward(); x.grad
class Exp(Function):
    @staticmethod
    def forward(ctx, i):
        r = i.exp()
        ctx.save_for_backward(r)
        return r
    @staticmethod
    def backward(ctx, g):
        r, = ctx.saved_tensors
        return g * r
x = torch.tensor([1.], requires_grad=True)
y = Exp.apply(x)
y += 1
y.backward()
class Square(Function):
    @staticmethod
    def forward(x):
        return x ** 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, = inputs
        ctx.save_for_backward(x)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g
g, = torch.autograd.grad(Square.apply(x), x, create_graph=True)
g
torch.autograd.grad(g, x)
class Bad(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g, g
Bad.apply(x).backward()
class Bad2(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return torch.ones(3)
Bad2.apply(x).backward()
class Bad3(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
Bad3.apply(x).backward()
class Bad4(Function):
    @staticmethod
    def forward(ctx, x):
        return "no"
    @staticmethod
    def backward(ctx, g):
        return 3
Bad4.apply(x)
class Bad5(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return 3
Bad5.apply(x).backward()
class Inst(Function):
    def forward(self, x):
        return x
    def backward(self, g):
        return g
Inst()(x)
Inst.apply(x)
v = Variable(torch.ones(2), requires_grad=True)
v, type(v), isinstance(v, Variable)
Variable(torch.ones(2), volatile=True)
v.data, v.grad, v.creator
class Clamp(Function):
    @staticmethod
    def forward(ctx, x, lo, hi):
        ctx.mark_non_differentiable()
        ctx.save_for_backward(x)
        ctx.lo, ctx.hi = lo, hi
        return x.clamp(lo, hi)
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        m = (x >= ctx.lo) & (x <= ctx.hi)
        return g * m, None, None
x = torch.linspace(-2, 2, 5, requires_grad=True)
Clamp.apply(x, -1, 1).sum().backward()
x.grad
Clamp.apply(x, -1, 1).grad_fn
Clamp.apply(x, -1, 1).grad_fn.saved_tensors
with torch.no_grad():
    print(Clamp.apply(x, -1, 1))
Clamp.apply(x=x, lo=1, hi=2)
class TwoOut(Function):
    @staticmethod
    def forward(ctx, x):
        m, i = x.max(0)
        ctx.mark_non_differentiable(i)
        ctx.i, ctx.n = i, x.shape
        return m, i
    @staticmethod
    def backward(ctx, gm, gi):
        print(gm, gi)
        out = gm.new_zeros(ctx.n)
        out[ctx.i] = gm
        return out
m, i = TwoOut.apply(x)
m, i
m.backward(); x.grad
