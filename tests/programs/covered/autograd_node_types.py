# What nodes are called: by type, by name and when printed
import torch
x = torch.ones(3, requires_grad=True)
def told(t):
    f = t.grad_fn
    return type(f), f.name(), repr(f).partition(" at ")[0], [type(n) for n, _ in f.next_functions]

told(x * 2)
z = torch.zeros(3)
z[0] = x[0]
told(z)
told(x.double())
told(x.half())
told(x.unbind()[0])
told(x.view(3))
told(x[[0]])
told(torch.stack([x, x]))
told(torch.zeros(3).copy_(x))
told(x.clone().fill_(1))
told(x.clone().normal_())
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a):
        return a * 2
    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2

told(Twice.apply(x))
g, = torch.autograd.grad(Twice.apply(x).sum(), x, create_graph=True)
told(g)
type(z.grad_fn).__name__, type(x.view(3).grad_fn.next_functions[0][0]).__name__

# the class of all nodes is one of its own kind, and no node
Node = torch.autograd.graph.Node
issubclass(Node, Node), isinstance(Node, Node), issubclass(int, Node)
isinstance((x * 2).grad_fn, Node), Node in type((x * 2).grad_fn).mro()
