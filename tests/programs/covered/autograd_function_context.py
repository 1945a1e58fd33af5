"""What a Function keeps on its context, returns and marks, and what in-place writes do to that."""
import torch
from torch.autograd import Function
class A(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x
x = torch.ones(2, requires_grad=True)
y = A.apply(x)
with torch.no_grad():
    x.add_(1)
y.sum().backward()
c = x.clone()
y = A.apply(c)
c.add_(1)
y.sum().backward()
y.grad_fn.saved_tensors
y.grad_fn._raw_saved_tensors[0].unpack()
class B(Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        ctx.y = y
        return y
    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        print(y.grad_fn is ctx.y.grad_fn, y is ctx.y, y.requires_grad)
        return g * y
o = B.apply(x)
o.sum().backward(retain_graph=True)
o.add_(1)
o.sum().backward()
o2 = B.apply(x)
o2.detach().add_(1)
o2.sum().backward()
class C(Function):
    @staticmethod
    def forward(ctx, x):
        t = torch.ones(2)
        ctx.save_for_backward(t)
        ctx.t = t
        return x * t
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_tensors[0]
o = C.apply(x)
o.grad_fn.t.add_(1)
o.sum().backward()
class D(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.save_for_backward(x * 2)
        return x * 2
    @staticmethod
    def backward(ctx, g):
        print(len(ctx.saved_tensors), ctx.saved_tensors)
        ctx.save_for_backward(g)
        print(ctx.saved_tensors, ctx.to_save)
        return g
D.apply(x).sum().backward()
class E(Function):
    @staticmethod
    def forward(ctx, x):
        print(ctx.saved_tensors, ctx.needs_input_grad, ctx.next_functions[0][0].name())
        ctx.save_for_backward(x)
        print(ctx.saved_tensors, ctx.to_save)
        ctx.a = 1
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        print(ctx.a, ctx.b if hasattr(ctx, 'b') else None, ctx.needs_input_grad)
        ctx.a += 1
        return g
z = E.apply(x)
z.grad_fn.b = 5
z.sum().backward(retain_graph=True)
z.sum().backward()
z.sum().backward()
z.grad_fn.a
with torch.no_grad():
    z = E.apply(x)
z = E.apply(x.detach())
z.grad_fn
class G(Function):
    @staticmethod
    def forward(ctx, a, b, c):
        print(ctx.needs_input_grad)
        return a + b + c
    @staticmethod
    def backward(ctx, g):
        print(ctx.needs_input_grad)
        return tuple(g if n else None for n in ctx.needs_input_grad)
G.apply(x, torch.ones(2), x * 2).sum().backward()
G.apply(x, torch.ones(2, dtype=torch.int64), 3).sum().backward()
w = torch.ones(2, requires_grad=True)
r = G.apply(x, w, 1)
torch.autograd.grad(r.sum(), x, retain_graph=True)
r.sum().backward(inputs=w)
class H(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 1, x * 2, x * 3
    @staticmethod
    def backward(ctx, *gs):
        print(gs)
        return sum(g for g in gs if g is not None)
a, b, c = H.apply(x)
b.sum().backward()
(a + c).sum().backward()
class I(H):
    @staticmethod
    def forward(ctx, x):
        return x * 1, (x * 2).double(), (x * 3).long(), 'str', None
a, b, c, d, e = I.apply(x)
a.dtype, b.dtype, c, d, e
b.sum().backward()
class J(Function):
    @staticmethod
    def forward(ctx, x):
        return x.view(1, 2)
    @staticmethod
    def backward(ctx, g):
        return g.view(2)
v = J.apply(x)
v._is_view(), v._base is x
v.add_(1)
vv = J.apply(x * 1)
vv.add_(1)
vv.view(2).add_(1)
vd = vv.detach()
vd.add_(1)
vv
vv.sum().backward()
vv.grad_fn
class K(Function):
    @staticmethod
    def forward(ctx, x, y):
        return y, x
    @staticmethod
    def backward(ctx, gy, gx):
        return gx, gy
p = torch.ones(2, requires_grad=True)
q = torch.zeros(2)
a, b = K.apply(p, q)
a is q, b is p, a.requires_grad, b.requires_grad, a._is_view(), b._is_view()
(a * 2 + b * 3).sum().backward()
p.grad, q.grad
a.add_(1)
class L(Function):
    @staticmethod
    def forward(ctx, x):
        x.data.mul_(2)
        return x
    @staticmethod
    def backward(ctx, g):
        return g
l = L.apply(p)
l, p, p._version
class M(Function):
    @staticmethod
    def forward(ctx, x):
        raise KeyError('in forward')
    @staticmethod
    def backward(ctx, g):
        return g
M.apply(p)
torch.is_grad_enabled()
class N(Function):
    @staticmethod
    def forward(ctx, x):
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        raise KeyError('in backward')
N.apply(p).sum().backward()
torch.is_grad_enabled()
class O(Function):
    @staticmethod
    def forward(ctx, *args, **kwargs):
        return args[0] * 2
    @staticmethod
    def backward(ctx, *args, **kwargs):
        return args[0]
O.apply(p, 1, 2)
O.apply(p, 1, k=2)
O.apply(p).sum().backward()
class P(O):
    @staticmethod
    def backward(ctx, *args):
        return (args[0], None, None)
P.apply(p, 1, 2).sum().backward()
def nested():
    class Q(Function):
        @staticmethod
        def forward(ctx, x):
            return A.apply(x) + 1
        @staticmethod
        def backward(ctx, g):
            return g
    return Q.apply(p)
nested().grad_fn.name(), nested().grad_fn.next_functions[0][0].name()
class R(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.mark_non_differentiable(x)
        return x, x * 2
    @staticmethod
    def backward(ctx, g1, g2):
        print(g1, g2)
        return g2
s, t = R.apply(p * 1)
s.requires_grad, t.requires_grad
t.sum().backward()
isinstance(t.grad_fn, R._backward_cls), t.grad_fn._forward_cls is R
