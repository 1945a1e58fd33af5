"""Saved hooks."""
import torch
x = torch.tensor([1., 2.], requires_grad=True)
def pack(t):
    print("pack", t.shape)
    return t.detach().clone()
def unpack(t):
    print("unpack")
    return t
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    y = x ** 2
y.sum().backward()
x.grad
with torch.autograd.graph.save_on_cpu():
    y = x.exp()
y.sum().backward()
x.grad
with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        pass
y = x * x
y.grad_fn._saved_self is x
y.grad_fn._saved_self.equal(x)
y = x.exp()
y.grad_fn._saved_result is y
y.grad_fn._raw_saved_result
y.sum().backward()
y.grad_fn._saved_result
with torch.autograd.graph.allow_mutation_on_saved_tensors():
    z = x * x
    out = z.sum()
    out.backward()
