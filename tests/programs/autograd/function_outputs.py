"""Outputs of a Function: inputs returned as they are, views, several, ones without gradient, ones that are no tensors."""
import torch
from torch.autograd import Function

def function(forward, backward=lambda ctx, *g: g[0], name="F"):
    return type(Function)(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

x = torch.tensor([1., 2.], requires_grad=True)
function(lambda ctx, x: 3).apply(x)
function(lambda ctx, x: (x * 2, 3, None)).apply(x)
function(lambda ctx, x: [x * 2, 3]).apply(x)
Id = function(lambda ctx, x: x, name="Id")
y = Id.apply(x)
print(y, y is x, y._base is x, y._is_view(), y.data_ptr() == x.data_ptr())
y.add_(1)
with torch.no_grad():
    y = Id.apply(x)
    print(y, y is x, y._base is x, y._is_view())
y = Id.apply(x.detach())
print(y, y._is_view())
w = x * 1
y = Id.apply(w)
w.add_(1)
y.grad_fn
y.sum()
First = function(lambda ctx, x: x[:1], lambda ctx, g: torch.cat([g, g * 0]), "First")
w = x * 1
v = First.apply(w)
print(v, v._base is w)
v.mul_(2)
with torch.no_grad():
    v = First.apply(w)
print(v, v._is_view())
v.mul_(2)
Parts = function(lambda ctx, x: (x[:1], x[1:]), lambda ctx, g, h: torch.cat([g, h]), "Parts")
a, b = Parts.apply(w)
print(a, b)
a.mul_(2)

def with_mask(ctx, x):
    mask, twice = x > 1, x * 2
    ctx.mark_non_differentiable(mask, twice)
    return x * 3, mask, twice

Masked = function(with_mask, lambda ctx, *g: (print(g), g[0])[1], "Masked")
a, m, t = Masked.apply(x)
print(a, m, t, t.is_leaf)
a.sum().backward()
Long = function(lambda ctx, x: (x.long(), x * 1), lambda ctx, *g: (print(g), g[1])[1], "Long")
i, f = Long.apply(x)
print(i, f)
f.sum().backward()

def two(ctx, x):
    ctx.set_materialize_grads(x.shape[0] == 2)
    return x * 1, x * 2

Two = function(two, lambda ctx, g, h: (print(g, h), h * 2)[1], "Two")
Two.apply(x)[1].sum().backward()
Two.apply(torch.cat([x, x]))[1].sum().backward()
function(lambda ctx, x: (ctx.mark_non_differentiable(3), x * 1)[1]).apply(x)
function(lambda ctx, x: (ctx.set_materialize_grads(3), x * 1)[1]).apply(x)
