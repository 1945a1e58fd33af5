"""Nodes called by hand, nodes put into a graph by hand, and what a node says of itself."""
import torch

Node = torch.autograd.graph.Node
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x * 3
isinstance(y.grad_fn, Node), isinstance(x, Node), issubclass(torch._C._functions.AccumulateGrad, Node)
torch._C._functions.MulBackward0 is type(y.grad_fn)
[n for n in dir(y.grad_fn) if n.startswith(("_saved", "_raw"))]
y.grad_fn._raw_saved_other.unpack(), y.grad_fn._raw_saved_self.unpack()
y.grad_fn._raw_saved_self.register_hooks(lambda t: t, lambda t: t)
y.grad_fn._saved_self = 1
y.grad_fn.metadata["note"] = "mine"
y.grad_fn.metadata
y.grad_fn.metadata = {}
y.grad_fn(torch.ones(2))
y.grad_fn()
y.grad_fn(torch.ones(2), torch.ones(2))
y.grad_fn(3)
y.grad_fn(None)
accumulator = y.grad_fn.next_functions[0][0]
accumulator(torch.tensor([5.0, 6.0]))
x.grad
accumulator(None)
accumulator.variable is x
m = y.grad_fn._input_metadata[0]
m.shape, m.dtype, m.device, m.is_nested_tensor
u = torch._C._functions.UndefinedGrad()(x * 2)
u
u.sum().backward()
x.grad
torch.autograd.grad(torch._C._functions.UndefinedGrad()(x), x, torch.ones(2), allow_unused=True)
boom = torch._C._functions.DelayedError("Boom!", 1)(x)
boom
(boom * 2).sum().backward()
a, b = torch._C._functions.DelayedError("Boom!", 2)(x, x * 1)
a.output_nr, b.output_nr, a.grad_fn is b.grad_fn
torch._C._functions.DelayedError("Boom!", 2)(x)
torch._C._functions.DelayedError("Boom!")
def written(base, other):
    out = base.clone().view(-1)
    out += other
    return out
out = written(x, torch._C._functions.DelayedError("Boom!", 1)(y))
torch.autograd.grad(out.sum(), x)
out = written(x.detach().requires_grad_(), torch._C._functions.DelayedError("Boom!", 1)(y))
torch.autograd.grad(out.sum(), y)
y.grad_fn._set_sequence_nr(7)
y.grad_fn._sequence_nr()
saved = (x * x).grad_fn
saved._raw_saved_self.data is x
saved._raw_saved_self.unpack_hook
saved._raw_saved_self.register_hooks(lambda t: ("packed", t), lambda p: p[1])
saved._raw_saved_self.data
torch.autograd.SavedTensor()
