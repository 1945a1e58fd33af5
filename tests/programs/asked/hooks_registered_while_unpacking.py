"""Warnings that are errors during a backward, what a Function saved, copies kept on the CPU."""

import torch, warnings, io, sys
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
