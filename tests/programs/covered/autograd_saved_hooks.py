"""Hooks on saved tensors: packing, unpacking, and their errors."""
import torch

log = []
def pack(t):
    log.append(tuple(t.shape))
    return t.clone()

def unpack(t):
    return t * 10

a = torch.ones(3, requires_grad=True)
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    b = a * a

log
b.sum().backward()
a.grad
with torch.autograd.graph.saved_tensors_hooks(lambda x: x.mul_(2), lambda x: x):
    c = a.clone().exp()

with torch.autograd.graph.saved_tensors_hooks(lambda x: x.numpy(), lambda x: x):
    d = a.exp()
with torch.autograd.graph.saved_tensors_hooks(lambda x: 3, lambda x: "no"):
    d = a.exp()

d.sum().backward()
e = a.exp()
e.grad_fn._raw_saved_result.register_hooks(lambda t: t, lambda t: t * 2)
e.sum().backward()
a.grad
with torch.autograd.graph.save_on_cpu():
    f = a.pow(3)

f.sum().backward()
a.grad
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        pass
