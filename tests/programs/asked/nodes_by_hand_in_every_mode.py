"""Edges, hooks and backward inside of inference mode and no_grad."""

import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
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
