"""Hooks around a leaf's accumulator when no gradient comes, and hooks that return what they must not."""
import torch

class Nothing(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return None
a = torch.ones(2, requires_grad=True)
h = a.register_post_accumulate_grad_hook(lambda t: print("after", t.grad))
accumulator = (a * 1).grad_fn.next_functions[0][0]
h1 = accumulator.register_prehook(lambda gs: print("before the accumulator", gs))
h2 = accumulator.register_hook(lambda ins, outs: print("after the accumulator", ins, outs))
h3 = a.register_hook(lambda g: print("tensor", g))
Nothing.apply(a).sum().backward()
a.grad
y = a * 2
a.requires_grad_(False)
y.sum().backward()
a.grad
a.requires_grad_()
h.remove()
h = a.register_post_accumulate_grad_hook(lambda t: t.grad)
a.sum().backward()
a.grad
h.remove()
h = a.register_hook(lambda g: g.double())
a.sum().backward()
(a * 1).register_post_accumulate_grad_hook(print)
torch.ones(2).register_post_accumulate_grad_hook(print)
b = a.detach().requires_grad_()
c = b * 2
c.grad_fn.register_prehook(lambda gs: gs[0]) and None
c.sum().backward()
c = b * 2
c.grad_fn.register_prehook(lambda gs: ()) and None
c.sum().backward()
c = b * 2
c.grad_fn.register_hook(lambda ins, outs: (ins[0], outs[0])) and None
c.sum().backward()
c = b * 2
c.grad_fn.register_hook(lambda ins, outs: (ins[0][:1], None)) and None
c.sum().backward()
c = b * 2
c.grad_fn.register_hook(lambda ins, outs: (None, None)) and None
c.sum().backward()
b.grad
c = b * 2
c.register_hook(3) and None
c.sum().backward()
