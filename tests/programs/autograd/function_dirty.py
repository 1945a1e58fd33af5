"""mark_dirty: an in-place operation of one's own."""
import torch
from torch.autograd import Function

def triple(ctx, x):
    x.mul_(3)
    ctx.mark_dirty(x)
    return x

def function(forward, backward=lambda ctx, *g: g[0], name="F"):
    return type(Function)(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

Triple = function(triple, lambda ctx, g: g * 3, "Triple")
x = torch.tensor([1., 2.], requires_grad=True)
w = x * 1
y = Triple.apply(w)
print(y, y is w, y._version)
y.sum().backward()
x.grad
Triple.apply(x)
print(x, x._version)
w = torch.ones(2)
print(Triple.apply(w) is w, w, w._version)
with torch.no_grad():
    w = torch.ones(2)
    print(Triple.apply(w) is w, w._version)
x = torch.tensor([1., 2.], requires_grad=True)
w = x * 1
v = w[:1]
y = Triple.apply(v)
print(y is v, y, w, w.grad_fn.next_functions[0][0].name())
w.sum().backward()
x.grad
function(lambda ctx, x: (triple(ctx, x), x * 2)[1]).apply(x * 1)
function(lambda ctx, x: (triple(ctx, x), x * 2)).apply((x * 1)[:1])
function(lambda ctx, x: (triple(ctx, x), x * 2)).apply(x * 1)
function(lambda ctx, x: (ctx.mark_dirty(3), x)[1]).apply(x * 1)

def fresh(ctx, x):
    y = x * 2
    ctx.mark_dirty(y)
    return y

function(fresh).apply(x * 1)

def swap(ctx, a, b):
    a.mul_(2)
    b.mul_(3)
    ctx.mark_dirty(a, b)
    return b, a

a, b = x * 1, x * 2
c, d = function(swap, lambda ctx, g, h: (h * 2, g * 3)).apply(a, b)
print(c is b, d is a, c.grad_fn is d.grad_fn, c.output_nr, d.output_nr)
