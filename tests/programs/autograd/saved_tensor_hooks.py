"""Hooks on saved tensors: as a context, on one saved tensor, what they see and what they may not do."""
import torch
from torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks
from torch.autograd.graph import allow_mutation_on_saved_tensors

def pack(t):
    print("pack", t, torch.is_grad_enabled())
    return t.detach().clone()

def unpack(t):
    print("unpack", t, torch.is_grad_enabled())
    return t

x = torch.tensor([1., 2.], requires_grad=True)
c = torch.tensor([3., 4.], requires_grad=True)
with saved_tensors_hooks(pack, unpack):
    y = x * c
    w = y.sigmoid()
    u = w * 2
w.grad_fn._saved_result
y.grad_fn._saved_self
u.sum().backward()
print(x.grad, c.grad)
with saved_tensors_hooks(lambda t: 3, lambda t: t):
    y = x * x
y.grad_fn._saved_self
y.sum().backward()
with saved_tensors_hooks(lambda t: t.add_(1), lambda t: t):
    (x * 1) ** 2
with saved_tensors_hooks(lambda t: {}["k"], lambda t: t):
    x.exp()
with saved_tensors_hooks(pack, unpack):
    with saved_tensors_hooks(lambda t: (print("inner"), t)[1], lambda t: t):
        y = x ** 2
    y = (x * 1).mul_(x)
with disable_saved_tensors_hooks("not here"):
    with save_on_cpu():
        print("never")
with saved_tensors_hooks(pack, unpack):
    with disable_saved_tensors_hooks("not here either"):
        print("never")
with save_on_cpu():
    y = x * x
torch.autograd.grad(y.sum(), x)
with allow_mutation_on_saved_tensors():
    b = x.clone()
    out = (b ** 2).sum()
    b.sin_()
    print(torch.autograd.grad(out, x))
with allow_mutation_on_saved_tensors():
    out = (x.clone() ** 2).sum()
out.backward()
y = x ** 2
saved = y.grad_fn._raw_saved_self
saved.register_hooks(lambda t: (print("pack", t), t * 2)[1], lambda t: t)
saved.register_hooks(lambda t: t, lambda t: t)
y.grad_fn._saved_self
torch.autograd.grad(y.sum(), x)
saved.register_hooks(lambda t: t, lambda t: t)
y = x.sigmoid()
y.grad_fn._raw_saved_result.register_hooks(lambda t: (print("pack", t), t * 2)[1], unpack)
y.grad_fn._saved_result
y = x * x
y.grad_fn._raw_saved_self.register_hooks(lambda t: t.mul_(2), lambda t: t)
w = x * 1
with saved_tensors_hooks(lambda t: t, lambda t: t):
    y = w ** 2
w.add_(5)
torch.autograd.grad(y.sum(), x)
