"""Hooks removed, kept, failing, called in any case; what the inputs' and outputs' nodes allow; hooks on state dicts."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import gc, weakref, pickle, copy
from functools import partial
from collections import OrderedDict
torch.manual_seed(0)
m = nn.Linear(2, 2)
h = m.register_forward_hook(lambda m, a, k, o: None, with_kwargs=True, always_call=True)
h.id in m._forward_hooks_with_kwargs, h.id in m._forward_hooks_always_called
h.remove()
h.id in m._forward_hooks_with_kwargs, h.id in m._forward_hooks_always_called
h = m.register_forward_pre_hook(lambda m, a, k: None, with_kwargs=True)
h.remove(); h.id in m._forward_pre_hooks_with_kwargs
len(h.hooks_dict_ref())
gc.disable()
k = nn.Linear(1, 1)
k.register_load_state_dict_pre_hook(lambda *a: None)
w = weakref.ref(k)
del k
w() is None
gc.enable()
def named(*args, **kw):
    print("hook", len(args))
p = nn.Linear(1, 1)
p.register_load_state_dict_pre_hook(named)
q = copy.deepcopy(p)
q.load_state_dict(p.state_dict())
def removable(m, a):
    hs[0].remove()
    return a
hs = [m.register_forward_pre_hook(removable)]
m(torch.ones(2)).shape
len(m._forward_pre_hooks)
class KW(nn.Module):
    def forward(self, x, bias=None):
        return x if bias is None else x + bias
    def inner(self, module, args, kwargs, out):
        return out + kwargs["bias"]
k = KW()
k.register_forward_pre_hook(lambda m, a, kw: (a, {"bias": kw["bias"] * 2}), with_kwargs=True)
k.register_forward_hook(k.inner, with_kwargs=True)
k(torch.ones(2), bias=torch.ones(2))
class Fails(nn.Module):
    def forward(self, x, fail=True):
        if fail:
            raise RuntimeError("failing in forward")
        return x
f = Fails()
f.register_forward_hook(lambda *a: print("called"), always_call=True)
def bad(*a):
    raise RuntimeError("bad hook")
f.register_forward_hook(bad, always_call=True)
f(torch.ones(1))
f(torch.ones(1), fail=False)
g = Fails()
g.register_forward_pre_hook(bad)
g.register_forward_hook(lambda *a: print("still called", a[1:]), always_call=True)
g(torch.ones(1))
from torch.nn.modules.module import register_module_forward_hook, register_module_backward_hook, register_module_full_backward_hook, register_module_full_backward_pre_hook
gh = register_module_forward_hook(lambda *a: print("global", a[1:]), always_call=True)
Fails()(torch.ones(1))
gh.remove()
b = register_module_backward_hook(lambda m, gi, go: print("old global", gi, go))
nn.Sigmoid()(torch.zeros(2, requires_grad=True)).sum().backward()
register_module_full_backward_hook(print)
b.remove()
s = nn.Sigmoid()
b = s.register_backward_hook(lambda m, gi, go: gi[:-1])
s(torch.zeros(2, requires_grad=True)).sum().backward()
b.remove()
b = s.register_backward_hook(lambda m, gi, go: gi + (torch.ones(2),))
s(torch.zeros(2, requires_grad=True)).sum().backward()
b.remove()
b = s.register_backward_hook(lambda m, gi, go: tuple(g * 2 for g in gi))
x = torch.zeros(2, requires_grad=True)
s(x).sum().backward()
x.grad
class Tup(nn.Module):
    def forward(self, *xs):
        return xs
t = Tup()
t.register_full_backward_hook(lambda m, gi, go: print(gi, go))
a, c = torch.ones(1, requires_grad=True), torch.ones(1)
o = t(a, c, 3)
o
o[0].sum().backward()
t(c, 3)
t()
t2 = Tup()
t2.register_full_backward_hook(lambda m, gi, go: gi[0] * 2)
t2(torch.ones(1, requires_grad=True))[0].backward()
class View(nn.Module):
    def forward(self, x):
        return x.view(2)
v = View()
v.register_full_backward_hook(lambda m, gi, go: None)
y = v(torch.ones(2, requires_grad=True) * 1)
y += 1
z = v(torch.ones(2, requires_grad=True) * 1)
z.mul_(2)
class InPlace(nn.Module):
    def forward(self, x):
        x += 1
        return x
i = InPlace()
i.register_full_backward_hook(lambda m, gi, go: None)
i(torch.ones(2, requires_grad=True) * 1)
l = nn.Linear(2, 2)
calls = []
l.register_full_backward_pre_hook(lambda m, go: calls.append("pre"))
l.register_full_backward_hook(lambda m, gi, go: calls.append("post"))
out = l(torch.ones(1, 2, requires_grad=True))
out.sum().backward(retain_graph=True)
out.sum().backward()
calls
g, = torch.autograd.grad(l(torch.ones(1, 2, requires_grad=True)).sum(), l.weight)
calls
x = torch.ones(1, 2, requires_grad=True)
g, = torch.autograd.grad(l(x).pow(2).sum(), x, create_graph=True)
calls
g.sum().backward()
calls
nested = nn.Sequential(nn.Linear(1, 1), nn.Sequential(nn.Linear(1, 1)))
class Post(nn.Module):
    def __init__(self):
        super().__init__()
        self.foo = nn.Parameter(torch.zeros(1))
    def hook(self, module, keys):
        keys.missing_keys.append("foo"); keys.unexpected_keys.append("bar")
n = Post()
wrapped = nn.ModuleList([n])
hd = n.register_load_state_dict_post_hook(n.hook)
wrapped.load_state_dict(wrapped.state_dict(), strict=False)
wrapped.load_state_dict(wrapped.state_dict())
hd.remove()
wrapped.load_state_dict(wrapped.state_dict())
class Custom(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(1))
        self.sub = nn.Linear(1, 1)
    def _save_to_state_dict(self, destination, prefix, keep_vars):
        destination[prefix + "serialized"] = self.p.data + 1
    def _load_from_state_dict(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        self.p.data.copy_(state_dict[prefix + "serialized"] - 1)
cm = nn.Sequential(Custom())
list(cm.state_dict())
cm.load_state_dict({**cm.state_dict(), "0.serialized": torch.tensor([11.])})
cm[0].p
bn = nn.BatchNorm1d(2)
sd = bn.state_dict()
del sd["num_batches_tracked"]
bn.load_state_dict(sd)
sd._metadata[""]["version"] = 1
bn.load_state_dict(sd)
ddp = OrderedDict(("module." + k, v) for k, v in nn.Linear(1, 1).state_dict().items())
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present
consume_prefix_in_state_dict_if_present(ddp, "module.")
list(ddp)
nn.Linear(1, 1).load_state_dict({"weight": ((1.,),), "bias": torch.ones(1)})
