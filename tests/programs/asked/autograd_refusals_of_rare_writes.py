"""Resizing in inference mode, where autograd is not asked; pack hooks that write or raise; no second derivative at zeros."""

import torch
x = torch.tensor([1., 2., 3.], requires_grad=True)
with torch.inference_mode():
    c = torch.ones(1, 2, 3, requires_grad=True)
    c.resize_(1, 2)
    c
    c.resize_as_(torch.ones(1, 2))
    c.resize_as_(torch.ones(3, 3))
    c.shape, c.requires_grad, c.is_inference()
    x.resize_(2)
    x
    x._version
    x.resize_as_(torch.ones(3))
    v = c[0]
    v.resize_(1)
    c.set_(torch.ones(2))
    c
with torch.no_grad():
    x.resize_(2)
    x.resize_as_(torch.ones(2))
d = torch.ones(1, requires_grad=True)
with torch.inference_mode():
    d.add_(1)
    d._version
    d.detach_()
    d.requires_grad_(False)
    d.resize_(4)
    d.resize_(0)
    d
c.resize_(3)
c.resize_as_(torch.ones(2))
with torch.inference_mode():
    e = torch.ones(2, requires_grad=True)
e.resize_(2)
e.resize_(3)
e.resize_as_(torch.zeros(3))
a = torch.zeros(3, requires_grad=True)
def inc(x):
    x += 1
    return x
with torch.autograd.graph.saved_tensors_hooks(inc, lambda t: t):
    y = torch.exp(a)
y = torch.exp(torch.zeros(3, requires_grad=True))
y.grad_fn._raw_saved_result.register_hooks(inc, lambda t: t)
y._version
y.grad_fn._saved_result
y.grad_fn._raw_saved_result
y.sum().backward()
y.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t)
b = torch.zeros(3, requires_grad=True)
y = b * b
y.grad_fn._raw_saved_self.register_hooks(inc, lambda t: t)
y = b.sin()
with torch.no_grad():
    y.grad_fn._raw_saved_self.register_hooks(inc, lambda t: t)
y.grad_fn._saved_self
b._version
b
y.sum().backward()
def bad(x): raise ValueError("bad")
y = torch.exp(b)
y.grad_fn._raw_saved_result.register_hooks(bad, lambda t: t)
y.grad_fn._saved_result
y.grad_fn._raw_saved_result.register_hooks(lambda t: t, bad)
y.grad_fn._saved_result
y = b.sin()
y.grad_fn._raw_saved_self.register_hooks(bad, lambda t: t)
y.grad_fn._saved_self
y.grad_fn._raw_saved_self.register_hooks(lambda t: t * 2, lambda t: t)
y.grad_fn._saved_self
y.sum().backward()
x = torch.tensor([0., 0., 2., 3.], dtype=torch.float64, requires_grad=True)
i = torch.tensor([0, 0, 1, 1])
inp = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
o = torch.scatter_reduce(inp, 0, i, x, "prod", include_self=True)
o, o.grad_fn
g = torch.autograd.grad(o.sum(), (inp, x), create_graph=True)
g
[t.grad_fn for t in g]
[t.grad_fn.next_functions for t in g]
torch.autograd.grad(g[1].sum(), x, retain_graph=True)
torch.autograd.grad(g[0].sum(), x, retain_graph=True)
torch.autograd.grad(g[1].sum(), inp, retain_graph=True)
g[1].grad_fn.name()
x1 = torch.tensor([0., 1., 2., 3.], dtype=torch.float64, requires_grad=True)
o = torch.scatter_reduce(inp, 0, i, x1, "prod")
g = torch.autograd.grad(o.sum(), (inp, x1), create_graph=True)
g
torch.autograd.grad(g[1].sum(), x1, retain_graph=True)
g = torch.autograd.grad(o.sum(), (inp, x1))
o = torch.index_reduce(inp, 0, i, x, "prod", include_self=True)
o
g = torch.autograd.grad(o.sum(), (inp, x), create_graph=True)
g
torch.autograd.grad(g[1].sum(), x, retain_graph=True)
o = torch.index_reduce(inp, 0, i, x1, "prod", include_self=False)
g = torch.autograd.grad(o.sum(), (inp, x1), create_graph=True)
g
torch.autograd.grad(g[1].sum(), x1)
o = torch.index_reduce(inp, 0, i, x1, "amax", include_self=False)
o = inp.clone().index_reduce_(0, i, x, "prod", include_self=False)
o.sum().backward(retain_graph=True)
x.grad
g = torch.autograd.grad(o.sum(), x, create_graph=True)
g
