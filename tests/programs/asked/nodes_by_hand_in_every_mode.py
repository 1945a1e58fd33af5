"""Nodes that raise, made where nothing is recorded; edges and hooks inside of inference mode."""

import torch
D = torch._C._functions.DelayedError
U = torch._C._functions.UndefinedGrad
x = torch.ones(2, requires_grad=True)
y = x * 2
with torch.no_grad():
    a = D("err", 1)(y)
    b = U()(y)
    c = D("err", 1)(x)
    d = D("err", 1)(y.detach())
a, b, c, d
a.requires_grad, a.grad_fn, b.grad_fn
a.grad_fn.next_functions
with torch.inference_mode():
    a = D("err", 1)(y)
    i = D("err", 1)(torch.ones(2, requires_grad=True))
    j = D("err", 1)(torch.ones(2))
    a
    i
    j
a.is_inference(), i.is_inference()
with torch.inference_mode():
    torch.autograd.graph.get_gradient_edge(x)
    torch.autograd.graph.get_gradient_edge(y)
with torch.inference_mode():
    torch.autograd.graph.get_gradient_edge(y)
with torch.inference_mode():
    torch.autograd.graph.get_gradient_edge(torch.ones(1, requires_grad=True))
with torch.inference_mode():
    x.register_hook(lambda g: print(g))
    x.register_post_accumulate_grad_hook(lambda t: None)
with torch.inference_mode():
    z = x * 2
    z.register_hook(print)
with torch.inference_mode():
    y.retain_grad()
    y.sum().backward()
with torch.inference_mode():
    torch.autograd.grad(y, x, torch.ones(2))
with torch.inference_mode():
    y.backward(torch.ones(2))
    print(x.grad)
    print(x.grad.is_inference())
x.grad.add_(1)
with torch.no_grad():
    torch.autograd.graph.get_gradient_edge(x)
n = torch.ones(2, requires_grad=True)
with torch.inference_mode():
    q = (n * 3)
    n.grad = torch.zeros(2)
n.grad.is_inference()
(n * 2).sum().backward()
n.grad
class O(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2
o = O.apply(x)
with torch.no_grad():
    g, = torch.autograd.grad(o.sum(), x, create_graph=True)
g
with torch.inference_mode():
    O.apply(x)
    O.apply(torch.ones(1, requires_grad=True))
    torch.autograd.graph.increment_version(x)
    torch.autograd.graph.increment_version(torch.ones(1))
x._version
x = torch.tensor([0., 0., 2., 3.], dtype=torch.float64, requires_grad=True)
i = torch.tensor([0, 0, 1, 1])
inp = torch.tensor([1., 2.], dtype=torch.float64, requires_grad=True)
o = torch.scatter_reduce(inp, 0, i, x, "prod", include_self=True)
g = torch.autograd.grad(o.sum(), (inp, x), retain_graph=True)
g
y = x * 2
y.retain_grad()
y.register_hook(lambda g: print(g))
o = torch.scatter_reduce(inp, 0, i, y, "prod", include_self=True)
o.sum().backward()
y.grad
x.grad
o = torch.index_reduce(inp, 0, i, x, "prod", include_self=True)
o.sum().backward()
x.grad
torch.autograd.gradcheck(lambda a, b: torch.scatter_reduce(a, 0, i, b, "prod"), (inp, x))
torch.autograd.gradgradcheck(lambda a, b: torch.scatter_reduce(a, 0, i, b, "prod"), (inp, x))
