"""Gradients asked for by name, in a dictionary; which mappings are refused."""
import torch
from collections import OrderedDict, UserDict
w = torch.ones(2, requires_grad=True)
b = torch.ones(2, requires_grad=True)
u = torch.ones(1, requires_grad=True)
def loss():
    return (w * 3 + b).sum()
torch.autograd.grad(loss(), {'w': w, 'b': b})
torch.autograd.grad(loss(), {'w': w, 'u': u}, allow_unused=True)
torch.autograd.grad(loss(), {'w': w, 'u': u}, materialize_grads=True)
torch.autograd.grad(loss(), {'w': w, 'u': u})
torch.autograd.grad(loss(), {})
torch.autograd.grad(loss(), OrderedDict(w=w))
torch.autograd.grad(loss(), UserDict(w=w))
torch.autograd.backward(loss(), inputs={'w': w})
w.grad, b.grad
torch.autograd.backward(loss(), inputs=OrderedDict(w=w))
torch.autograd.backward(loss(), inputs=UserDict(w=w))
torch.autograd.backward(loss(), inputs={})
loss().backward(inputs={'b': b})
b.grad
m = torch.nn.Linear(2, 1)
g = torch.autograd.grad(m(torch.ones(1, 2)).sum(), dict(m.named_parameters()))
list(g), [t.shape for t in g.values()]
torch.autograd.grad(loss(), {'w': 3})
torch.autograd.grad(loss(), w, {'a': 1})
torch.autograd.grad({'l': loss()}, w)
torch.autograd.grad(iter([loss()]), iter([w]))
torch.autograd.grad([w * 3, b * 2], {'w': w}, [torch.ones(2), torch.ones(2)])
torch.autograd.grad((w * 3), {'w': w}, torch.eye(2), is_grads_batched=True)
from torch.autograd import grad
grad(loss(), {'w': torch.autograd.graph.get_gradient_edge(w)})
