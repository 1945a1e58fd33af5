"""Hooks around forward and backward of a module, in order, with what they may return."""

import torch
import torch.nn as nn
torch.manual_seed(0)
lin = nn.Linear(2, 1)
def fh(mod, inp, out):
    print("fwd", mod, [tuple(i.shape) for i in inp], tuple(out.shape))
h = lin.register_forward_hook(fh)
lin(torch.ones(3, 2))
h.remove()
h.remove()
lin(torch.ones(3, 2))
def pre(mod, inp):
    print("pre", inp)
    return inp[0] * 2
h = lin.register_forward_pre_hook(pre)
lin(torch.ones(1, 2))
h.remove()
with lin.register_forward_hook(lambda m, i, o: o * 0):
    print(lin(torch.ones(1, 2)))
lin(torch.ones(1, 2))
def bw(mod, gi, go):
    print("bw", mod, gi, go)
h = lin.register_full_backward_hook(bw)
lin(torch.ones(1, 2)).sum().backward()
lin(torch.ones(1, 2, requires_grad=True)).sum().backward()
out = lin(torch.ones(1, 2, requires_grad=True))
out
out.grad_fn.name()
h.remove()
def bad(mod, gi, go):
    return (gi[0], gi[0])
h = lin.register_full_backward_hook(bad)
lin(torch.ones(1, 2, requires_grad=True)).sum().backward()
h.remove()
h = lin.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
x = torch.ones(1, 2, requires_grad=True)
lin(x).sum().backward()
x.grad, lin.weight
h.remove()
h = lin.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
x = torch.ones(1, 2, requires_grad=True)
lin.zero_grad()
lin(x).sum().backward()
x.grad, lin.weight.grad
h.remove()
lin(torch.ones(1, 2, requires_grad=True)).sum().backward()
lin.register_full_backward_hook(bw)
h = lin.register_full_backward_hook(bw)
h.remove()
lin.register_forward_hook(lambda m, a, k, o: print(a, k), with_kwargs=True)
lin(input=torch.zeros(1, 2))
lin.register_forward_pre_hook(lambda m, a, k: (a, {"input": torch.ones(1, 2)}), with_kwargs=True)
lin(torch.zeros(1, 2))
lin(input=torch.zeros(1, 2))
seq = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
acts = {}
def get(name):
    def hook(m, i, o):
        acts[name] = o.detach()
    return hook
for n, mod in seq.named_modules():
    mod.register_forward_hook(get(n))
seq(torch.ones(1, 2))
acts
for n, mod in seq.named_modules():
    mod.register_full_backward_hook(lambda m, gi, go, n=n: print(n or "whole", [None if g is None else tuple(g.shape) for g in gi], [tuple(g.shape) for g in go]))
seq(torch.ones(1, 2)).backward()
inp = nn.Sequential(nn.ReLU(inplace=True))
inp.register_full_backward_hook(lambda m, gi, go: None)
inp[0].register_full_backward_hook(lambda m, gi, go: None)
x = torch.ones(2, requires_grad=True)
inp(x * 2)
