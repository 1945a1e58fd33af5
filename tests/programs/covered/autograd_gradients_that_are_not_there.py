# Of several outputs one is used: who gets zeros for the other gradient, and who gets None?
import torch
from torch import nn
from torch.autograd import Function

class Both(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1, x * 2
    @staticmethod
    def backward(ctx, a, b):
        print("backward", a, b, b._version)
        return a + b

x = torch.ones(2, requires_grad=True)
Both.apply(x)[0].sum().backward()

class Fork(nn.Module):
    def forward(self, x):
        p, q = x * 1, x * 2
        p.register_hook(lambda g: print("p", g))
        q.register_hook(lambda g: print("q", g))
        return p, q

fork = Fork()
x = torch.ones(2, requires_grad=True)
fork(x)[0].sum().backward()

# a module's hook passes on that there is nothing
handle = fork.register_full_backward_hook(lambda m, into, out: print("hook", into, out))
fork(x)[0].sum().backward()
fork(x)[1].sum().backward()
x.grad, x.grad._version
handle.remove()
fork.register_full_backward_pre_hook(lambda m, out: print("pre", out))
fork(x)[0].sum().backward()

# filled with zeros, then written to
m = torch.eye(2, requires_grad=True)
g, = torch.autograd.grad(m.trace(), m)
g, g._version
