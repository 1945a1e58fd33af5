"""Saved tensors as objects: what they keep, their hooks, a Function that lets go of them once read."""
import torch
import weakref

a = torch.ones(2, 2, requires_grad=True)
fn = a[:, torch.tensor([0, 1])].grad_fn
fn._saved_indices
[s.unpack() for s in fn._raw_saved_indices]
fn._raw_saved_indices[0].register_hooks(lambda t: t, lambda t: t)
fn._raw_saved_indices[1].register_hooks(lambda t: t.numpy(), torch.from_numpy)
fn._raw_saved_indices[1].data
fn._saved_indices
e = a.exp()
e.grad_fn._raw_saved_result.data
e.grad_fn._raw_saved_result.data is e
b = a * 3
b.grad_fn._raw_saved_other.unpack()
[type(s).__name__ for s in (b.grad_fn._raw_saved_other, b.grad_fn._raw_saved_self, e.grad_fn._raw_saved_result)]
class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x, None)
        return x * 1
    @staticmethod
    def backward(ctx, g):
        x, nothing = ctx.saved_tensors
        seen = weakref.ref(x)
        del x
        print(nothing, seen() is None)
        return g
class LetsGo(Keeps):
    clear_saved_tensors_on_access = True
class Twice(LetsGo):
    @staticmethod
    def backward(ctx, g):
        ctx.saved_tensors
        ctx.saved_tensors
        return g
kept = Keeps.apply(a * 1)
[type(s).__name__ for s in kept.grad_fn._raw_saved_tensors]
kept.grad_fn._raw_saved_tensors[1].register_hooks(lambda t: t, lambda t: t)
kept.sum().backward()
LetsGo.apply(a * 1).sum().backward()
Twice.apply(a * 1).sum().backward()
kept.grad_fn._raw_saved_tensors
with torch.autograd.graph.saved_tensors_hooks(1, 2):
    pass
torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t).__exit__()
class Old(Keeps):
    @staticmethod
    def backward(ctx, g):
        return g * ctx.saved_variables[0]
Old.apply(a).sum().backward()
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    with torch.autograd.graph.save_on_cpu():
        pass
