"""What hooks switch on or off holds until the node is through; the next one finds the modes of the backward."""

import torch
from torch.autograd.graph import saved_tensors_hooks
x = torch.tensor([1., 2.], requires_grad=True)
log = []
def on(g):
    log.append(g.grad_fn); torch.set_grad_enabled(True)
y = x * 2
y.register_hook(lambda g: log.append((g.grad_fn, g.requires_grad)))
z = y.sin()
z.register_hook(on)
z.sum().backward()
log
log.clear()
z = (x * 2).sin()
z.grad_fn.register_prehook(lambda g: torch.set_grad_enabled(True) and None)
z.grad_fn.register_hook(lambda gi, go: log.append((gi, go, torch.is_grad_enabled())))
z.grad_fn.next_functions[0][0].register_hook(lambda gi, go: log.append((gi, go, torch.is_grad_enabled())))
z.sum().backward()
log
log.clear()
z = (x * 2).sin()
z.grad_fn.register_hook(lambda gi, go: torch.set_grad_enabled(True) and None)
z.grad_fn.next_functions[0][0].register_hook(lambda gi, go: log.append((gi, go, torch.is_grad_enabled())))
x.grad = None
x.register_post_accumulate_grad_hook(lambda t: log.append((t.grad, torch.is_grad_enabled())))
z.sum().backward()
log
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        torch.set_grad_enabled(True)
        return a * 2
    @staticmethod
    def backward(ctx, g):
        log.append(torch.is_grad_enabled())
        torch.set_grad_enabled(True)
        return g * 2
log.clear()
F.apply(F.apply(x)).sum().backward()
log
torch.is_grad_enabled()
with torch.no_grad():
    F.apply(x)
    torch.is_grad_enabled()
log.clear()
y = x * 2
y.register_hook(lambda g: torch.set_grad_enabled(False) and None)
z = y.sin()
g, = torch.autograd.grad(z.sum(), x, create_graph=True)
g
y = x * 2
y.grad_fn.register_hook(lambda gi, go: torch.set_grad_enabled(False) and None)
z = y.sin()
g, = torch.autograd.grad(z.sum(), x, create_graph=True)
g
z = y.sin()
z.register_hook(lambda g: torch.set_grad_enabled(False) and None)
g, = torch.autograd.grad(z.sum(), x, create_graph=True)
g
torch.is_grad_enabled()


n = []
c1 = saved_tensors_hooks(lambda t: (n.append("p1"), t)[1], lambda t: (n.append("u1"), t)[1])
c2 = saved_tensors_hooks(lambda t: (n.append("p2"), t)[1], lambda t: (n.append("u2"), t)[1])
def enter(g): c2.__enter__()
def leave(g): c1.__exit__()
with c1:
    y = x.sin()
    y.register_hook(enter)
    y.sum().backward()
    n
    n.clear()
    x.exp().sum().backward()
n
n.clear()
with c1:
    y = x.sin()
    y.register_hook(leave)
    y.sum().backward()
    x.exp().sum().backward()
n
n.clear()
x.exp().sum().backward()
n
y = x.sin()
y.register_hook(enter)
y.sum().backward()
x.exp().sum().backward()
n
y = x.sin()
y.register_hook(lambda g: torch.autograd.graph.saved_tensors_hooks(lambda t: (n.append("in"), t)[1], lambda t: t).__enter__())
(y.cos()*y).sum().backward(create_graph=True)
n
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): return a * 2
    @staticmethod
    def backward(ctx, g):
        c2.__enter__()
        return g * 2
n.clear()
F.apply(x).sum().backward()
x.exp().sum().backward()
n
with c1:
    F.apply(x).sum().backward()
    x.exp().sum().backward()
n
