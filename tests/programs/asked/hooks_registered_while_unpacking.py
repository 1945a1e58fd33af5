"""Hooks that hooks on saved tensors register, warnings that are errors during a backward, copies kept on the CPU."""

import torch, warnings, io, sys
class Registering(torch.autograd.graph.saved_tensors_hooks):
    def __init__(self, answer):
        def unpack(t):
            node = torch._C._current_autograd_node()
            def hook(outputs, inputs):
                print(node.name(), outputs, inputs)
                return answer(outputs)
            node.register_hook(hook)
            return t
        super().__init__(lambda t: t, unpack)
a = torch.tensor([1., 2.], requires_grad=True)
with Registering(lambda o: None):
    y = a.exp().sum()
y.backward()
a.grad
with Registering(lambda o: tuple(g * 10 if g is not None else None for g in o)):
    y = (a * a).sum()
y.backward()
a.grad
with Registering(lambda o: tuple(g * 10 for g in o)):
    y = a.sin().sum()
torch.autograd.grad(y, a, retain_graph=True)
torch.autograd.grad(y, a)
with Registering(lambda o: o[:-1]):
    y = a.sin().sum()
y.backward()
with Registering(lambda o: (torch.ones(5),)):
    y = a.sin().sum()
y.backward()
with Registering(lambda o: None):
    y = a.sin()
y.grad_fn.register_hook(lambda o, i: print("before", o, i))
y.sum().backward()
y.sum().backward()
with Registering(lambda o: None):
    y = a.sin()
y.grad_fn.register_prehook(lambda i: print("pre", i))
y.sum().backward()
out = io.StringIO()
torch.autograd.set_detect_anomaly(True)
b = torch.ones(2, requires_grad=True)
d = b + 1
e = d ** 2
d += 1
saved, sys.stderr = sys.stderr, out
with warnings.catch_warnings():
    warnings.simplefilter("error")
    e.sum().backward()
sys.stderr = saved
out.getvalue()[:80]
b.grad
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): ctx.save_for_backward(None, x); return x * 2
    @staticmethod
    def backward(ctx, g): return g
f = F.apply(b)
f.grad_fn._raw_saved_tensors
type(f.grad_fn._raw_saved_tensors[0])
torch.autograd.set_detect_anomaly(False)
from torch.autograd.graph import save_on_cpu
t = torch.arange(6.).reshape(2, 3).t().requires_grad_()
with save_on_cpu(pin_memory=True):
    y = t * t
    z = t.exp()
y.grad_fn._saved_self
y.grad_fn._saved_self._version, y.grad_fn._saved_self.stride()
z.grad_fn._saved_result._version, z.grad_fn._saved_result.stride()
y.grad_fn._saved_self is t
y.sum().backward()
t.grad
