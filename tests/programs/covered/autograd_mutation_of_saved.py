"""Tensors saved for backward may be written to inside this context, which tells what it had to copy."""
import torch
from torch.autograd.graph import allow_mutation_on_saved_tensors as amost
a = torch.ones(2, 3, requires_grad=True)
def fn(a):
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    out.sum().backward()
    return a.grad
fn(a)
with amost() as ctx:
    da = fn(a)
    print(len(ctx.cloned), len(ctx.tid_to_weakhandle), len(ctx.original), len(ctx.sid_to_tid) > 0)
da
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True)
    b = a.clone()
    c = b[:1]
    out = b**2
    c *= 10
    print(len(ctx.cloned))
    out.sum().backward()
    print(len(ctx.cloned))
a.grad
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True)
    b = a.clone()
    c = b[:]
    out = (c**2).sum()
    b *= 2
    out.backward()
    print(a.grad)
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True)
    b = a.clone()
    out = (b**2).sum()
    b.sin_()
    da, = torch.autograd.grad(out, a, create_graph=True)
    d2a, = torch.autograd.grad(da.sum(), a)
    print(d2a, len(ctx.cloned))
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True).clone()
    out = (a**2).sum()
    print(len(ctx.tid_to_weakhandle), len(ctx.cloned))
    out.backward()
    a.sin_()
    print(len(ctx.cloned))
    out = (a**2).sum()
    a.sin_()
    print(len(ctx.cloned))
    del out
    print(len(ctx.cloned))
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True).clone()
    b = a**2
    c = a**2
    a.sin_()
    print(len(ctx.cloned))
    del b, c
    print(len(ctx.cloned))
with amost() as ctx:
    a = torch.ones(2, 3, requires_grad=True).clone()
    b = a**2
    a.sin_()
    c = a**2
    a.sin_()
    print(len(ctx.cloned))
    del b
    print(len(ctx.cloned))
    del c
    print(len(ctx.cloned))
with amost() as ctx:
    a = torch.tensor([1.0], requires_grad=True)
    b = torch.tensor([1.0])
    c = torch.tensor([2.0])
    out = a * b
    print(len(ctx.tid_to_weakhandle))
    torch.sin(c, out=b)
    print(len(ctx.cloned))
    out.backward()
    print(len(ctx.cloned), a.grad)
with amost() as ctx:
    a = torch.rand(2, 3, requires_grad=True)
    out = (a**2).sum()
out.backward()
with amost() as ctx:
    a = torch.rand(2, 3, requires_grad=True)
    out = (a**2).sum()
with amost() as ctx:
    out.backward()
with amost() as ctx:
    with amost() as ctx2:
        pass
type(ctx).__name__
with amost():
    a = torch.ones(3, requires_grad=True)
    y = a * a
    with torch.no_grad():
        a.add_(1)
    print(y.grad_fn._saved_self, a)
    y.sum().backward()
    print(a.grad)
with amost():
    a = torch.ones(3, requires_grad=True)
    e = a.exp()
    e.add_(1)
    e.sum().backward()
    print(a.grad, e)
with amost():
    a = torch.ones(3, requires_grad=True)
    b = a * 1
    y = b * b
    b[0] = 5
    b.data[1] = 7
    y.sum().backward()
    print(a.grad)
