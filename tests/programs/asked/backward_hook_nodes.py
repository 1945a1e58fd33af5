"""Backward hook nodes."""
import torch
x = torch.ones(2, requires_grad=True)
y = x.exp()
h = y.grad_fn.register_hook(lambda gi, go: print("post", gi, go))
p = y.grad_fn.register_prehook(lambda go: print("pre", go))
y.sum().backward()
x.grad
x.register_post_accumulate_grad_hook(lambda t: print("acc", t.grad))
(x * 2).sum().backward()
def opt_hook(param):
    param.data.sub_(0.1 * param.grad)
    param.grad = None
w = torch.ones(2, requires_grad=True)
w.register_post_accumulate_grad_hook(opt_hook)
(w * 3).sum().backward()
w, w.grad
(w * 2).register_post_accumulate_grad_hook(opt_hook)
z = x * 3
z.register_hook(lambda g: g * 0)
z.retain_grad()
z.sum().backward()
z.grad, x.grad
order = []
a = torch.ones(1, requires_grad=True)
b = a * 1
b.register_hook(lambda g: order.append("1"))
b.register_hook(lambda g: order.append("2"))
a.register_hook(lambda g: order.append("leaf"))
b.backward()
order
torch.autograd.grad(a * 2, a)
order
torch.autograd.graph.register_multi_grad_hook([a, x], lambda g: print("multi", g))
(a + x).sum().backward()
a.grad
