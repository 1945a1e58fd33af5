"""Backward inside backward, numbers of nodes, Functions with setup_context, defaults and keywords."""
import torch
from torch.autograd import Function, Variable
ydata = torch.tensor([[1., 2.], [3., 4.]])
class Reenter(Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = Variable(x, requires_grad=True)
            ctx.y = Variable(ydata, requires_grad=True)
            ctx.out = ctx.x * ctx.y
        return ctx.out.detach()
    @staticmethod
    def backward(ctx, g):
        with torch.enable_grad():
            ctx.out.sum().backward()
        return ctx.x.grad * g
x = torch.ones(2, 2, requires_grad=True)
Reenter.apply(x).sum().backward()
x.grad
class Boom(Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        raise Exception("Simulate error on backward pass")
b = torch.rand(3, 3, requires_grad=True)
rr = Boom.apply(b * b).sum()
class Rf(Function):
    @staticmethod
    def forward(ctx, i):
        return i.clone()
    @staticmethod
    def backward(ctx, g):
        rr.backward()
        return g
a = torch.rand(3, 3, requires_grad=True)
Rf.apply(a * a).sum().backward()
a.grad
class Deep(Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = Variable(x.detach(), requires_grad=True)
            ctx.x = ctx.x - 1
        return ctx.x.detach()
    @staticmethod
    def backward(ctx, x):
        if ctx.x < 0:
            return x
        with torch.enable_grad():
            Deep.apply(ctx.x).sum().backward()
        return x
v = torch.tensor(150.0, requires_grad=True)
Deep.apply(v).sum().backward()
v.grad
order = []
class My(Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def backward(ctx, x):
        order.append('My')
        return x
class Re(Function):
    @staticmethod
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.x = Variable(x.detach(), requires_grad=True)
            ctx.x = ctx.x - 1
        return ctx.x.detach()
    @staticmethod
    def backward(ctx, x):
        order.append('Re')
        if ctx.x < 0:
            return x
        with torch.enable_grad():
            Re.apply(ctx.x).backward()
        return x
p = My.apply(torch.tensor(6.0, requires_grad=True))
q = Re.apply(torch.tensor(9.0, requires_grad=True))
(p * q).backward()
order
handle = None
param = torch.tensor([1., 2.], requires_grad=True)
def pen(grad):
    handle.remove()
    old = grad
    param.grad = None
    with torch.enable_grad():
        g = grad.detach().requires_grad_()
        new = param.detach().requires_grad_()
        o = ((g * 2) + new).sum()
        o.backward()
    res = g.grad + grad
    param.grad = old
    return res
handle = param.register_hook(pen)
(param * param).sum().backward()
param.grad
handle = None
param = torch.tensor([1., 2.], requires_grad=True)
tmp = param * param
def inc(grad):
    handle.remove()
    with torch.enable_grad():
        g = grad.detach().requires_grad_()
        o = ((g * 2) + 5).sum()
        o.backward()
    return g.grad + grad
handle = tmp.register_hook(inc)
tmp.sum().backward()
param.grad
x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
z = torch.ones(2, requires_grad=True)
a = x + y
b = y + z
c = a + b
a.grad_fn._set_sequence_nr(100)
b.grad_fn._set_sequence_nr(99)
c.grad_fn._set_sequence_nr(98)
order = []
for n, t in (('a', a), ('b', b), ('c', c)):
    t.register_hook(lambda g, n=n: order.append(n)) and None
c.sum().backward()
order, x.grad, y.grad, z.grad
u = torch.tensor([0.0], requires_grad=True)
w = torch.tensor([0.0], requires_grad=True)
torch.atan2(u, w).backward()
u.grad, w.grad
for s in [(5, 2), (1, 3), (3, 1)]:
    t = torch.ones(s, requires_grad=True)
    torch.trace(t).backward()
    print(t.grad)
class C1(Function):
    @staticmethod
    def forward(x, y=3):
        return torch.pow(x, y)
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, y = inputs
        print(len(inputs), y, output)
        ctx.save_for_backward(x)
        ctx.y = y
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.y * torch.pow(x, ctx.y - 1), None
x = torch.tensor(2.0, requires_grad=True)
y = C1.apply(x)
torch.autograd.grad(y, x)
C1.apply(x, 2)
C1.apply(x, y=2)
C1.apply(x=x)
C1.apply()
C1.apply(x, 2, 3)
class C2(Function):
    @classmethod
    def forward(cls, x, y=3):
        return torch.pow(x, y)
    @classmethod
    def setup_context(cls, ctx, inputs, output):
        ctx.save_for_backward(inputs[0])
        ctx.y = inputs[1]
    @classmethod
    def backward(cls, ctx, g):
        x, = ctx.saved_tensors
        return g * ctx.y * torch.pow(x, ctx.y - 1), None
torch.autograd.grad(C2.apply(x), x)
class Sq(Function):
    @staticmethod
    def forward(x):
        two = x.item() * 2
        return x ** 2, two
    @staticmethod
    def setup_context(ctx, inputs, output):
        x, = inputs
        _, ctx.two = output
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g, _):
        return g * ctx.two
o, t = Sq.apply(x)
o, t
torch.autograd.grad(o, x)
class Sc(Function):
    @staticmethod
    def forward(ctx, x):
        return x
    @staticmethod
    def setup_context(ctx, inputs, output):
        pass
    @staticmethod
    def backward(ctx, g):
        return g
Sc.apply(x)
class Dirt(Function):
    @staticmethod
    def forward(x):
        return x.mul_(2)
    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.mark_dirty(output)
        ctx.save_for_backward(output)
        ctx.needs = ctx.needs_input_grad
    @staticmethod
    def backward(ctx, g):
        print(ctx.needs, ctx.saved_tensors)
        return g * 2
q = x.clone()
w = Dirt.apply(q)
w is q, w
w.backward()
Function.apply(x)
Function().apply(x)
class Kw(Function):
    @staticmethod
    def forward(ctx, x, k=2):
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * 2, None
Kw.apply(x, k=3)
Kw.apply(x)
Kw.apply(x, 3)
Kw.apply(x).backward()
class Va(Function):
    @staticmethod
    def forward(ctx, *xs):
        ctx.n = len(xs)
        return sum(xs)
    @staticmethod
    def backward(ctx, g):
        return (g,) * ctx.n
Va.apply(x, x, x).backward()
x.grad
Va.apply([x, x])
class L(Function):
    @staticmethod
    def forward(ctx, xs):
        return xs[0] * 2
    @staticmethod
    def backward(ctx, g):
        return [g]
L.apply([x])
L.apply([x]).backward()
