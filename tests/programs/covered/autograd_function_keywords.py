"""Keyword arguments of a Function: how they find their places, and which are refused."""
import torch
from torch.autograd import Function
x = torch.ones(2, requires_grad=True)
class A(Function):
    @staticmethod
    def forward(ctx, a, b=2, c=3):
        print(a, b, c, ctx.needs_input_grad)
        return a * b * c
    @staticmethod
    def backward(ctx, g):
        print(len(ctx.next_functions), [n[0] is None for n in ctx.next_functions])
        return g, None, None
A.apply(x, c=5).sum().backward()
A.apply(x, b=4).sum().backward()
A.apply(x, c=5, b=4).sum().backward()
A.apply(a=x).sum().backward()
A.apply(c=4, a=x).sum().backward()
A.apply(x, d=4)
A.apply(x, a=4)
A.apply(x, 1, 2, 3)
A.apply(b=1)
A.apply(x, b=x, c=x * 2)
A.apply(x, c=x)
class B(Function):
    @staticmethod
    def forward(ctx, a, *, b=2):
        print(a, b, ctx.needs_input_grad)
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g, None
B.apply(x, b=3)
B.apply(x)
B.apply(x, 3)
class C(Function):
    @staticmethod
    def forward(ctx, *a, **k):
        print(len(a), k)
        return a[0] * 2
    @staticmethod
    def backward(ctx, g):
        return g
C.apply(x, k=1)
C.apply(x)
class D(Function):
    @staticmethod
    def forward(ctx, a, **k):
        print(a, k)
        return a * 2
    @staticmethod
    def backward(ctx, g):
        return g, None
D.apply(x, k=1)
class E(Function):
    @staticmethod
    def forward(a, b=2, *, c=3):
        return a * b * c
    @staticmethod
    def setup_context(ctx, inputs, output):
        print(len(inputs), inputs)
    @staticmethod
    def backward(ctx, g):
        return g, None, None
E.apply(x)
E.apply(x, c=4)
E.apply(x, b=4)
E.apply(b=4, a=x)
E.apply(x, d=3)
class F(Function):
    @staticmethod
    def forward(a, **k):
        return a * 2
    @staticmethod
    def setup_context(ctx, inputs, output):
        print(len(inputs), inputs)
    @staticmethod
    def backward(ctx, g):
        return g, None
F.apply(x, k=3)
F.apply(x)
class G(Function):
    @classmethod
    def forward(cls, ctx, a, b=2):
        print(a, b)
        return a * b
    @staticmethod
    def backward(ctx, g):
        return g, None
G.apply(x, b=3)
G.apply(x)
class H(Function):
    @staticmethod
    def forward(ctx, input, scale):
        return input * scale
    @staticmethod
    def backward(ctx, g):
        return g, None
H.apply(input=x, scale=2).sum().backward()
H.apply(x, scale=2).sum().backward()
H.apply(scale=2, input=x).sum().backward()
H.apply(x)
H.apply(input=x)
H.apply(scale=2)
