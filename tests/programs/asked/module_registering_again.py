"""Registering: methods that subclasses override, hooks on it, and what a name forgets when it is given again."""

import torch
import torch.nn as nn
from torch.nn import Buffer, Parameter
class Bad(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.bar = Buffer(torch.zeros(2))
    def register_buffer(self, name, value):
        print("mine", name)
        super().register_buffer(name, value, True)
b = Bad()
b.bar
b.bar = torch.ones(1)
b.baz = Buffer(torch.zeros(2), persistent=False)
class Own(nn.Module):
    def register_buffer(self, name, tensor, persistent=False):
        print("own", name, persistent)
        super().register_buffer(name, tensor, persistent)
o = Own()
o.x = Buffer(torch.ones(1))
o.x = torch.ones(2)
o.x = None
o.state_dict()
class P(nn.Module):
    def register_parameter(self, name, param):
        print("param", name)
        super().register_parameter(name, param)
p = P()
p.w = Parameter(torch.ones(1))
p.w = None
p.w = 3
class M(nn.Module):
    def register_module(self, name, m):
        print("module", name)
        super().register_module(name, m)
    def add_module(self, name, m):
        print("add", name)
        super().add_module(name, m)
m = M()
m.lin = nn.Linear(1, 1)
m.add_module("b", nn.ReLU())
m.register_module("c", nn.ReLU())
m.lin = None
m.lin = 4
m
from torch.nn.modules.module import register_module_module_registration_hook, register_module_parameter_registration_hook, register_module_buffer_registration_hook
h = [register_module_module_registration_hook(lambda mod, n, s: print("hook module", n)), register_module_parameter_registration_hook(lambda mod, n, s: print("hook param", n)), register_module_buffer_registration_hook(lambda mod, n, s: print("hook buffer", n))]
m.d = nn.Linear(1, 1)
m.e = Buffer(torch.ones(1))
m.register_buffer("f", None)
m.d = nn.Tanh()
m.e = torch.zeros(3)
[x.remove() for x in h]
m.g = nn.Linear(1, 1)

m = nn.Module()
m.b = Buffer(torch.ones(1), persistent=False)
m._non_persistent_buffers_set
del m.b
m._non_persistent_buffers_set
m.b = Buffer(torch.ones(1), persistent=False)
m.b = Parameter(torch.ones(1))
m._non_persistent_buffers_set
m.c = Buffer(torch.ones(1), persistent=False)
m.c = nn.ReLU()
m._non_persistent_buffers_set
m.c = torch.ones(1)
m.d = nn.ReLU()
m.d = Parameter(torch.ones(1))
m.d = Buffer(torch.ones(1))
m.e = Buffer(torch.ones(1))
m.e = nn.ReLU()
m
s = nn.Sequential(nn.ReLU(), nn.Tanh())
[k for k in dir(s) if k[0].isdigit()]
"0" in dir(s), "forward" in dir(s), "_modules" in dir(s)
class L(nn.Module):
    def forward(self, x): return {"a": x * 2}
l = L()
l.register_backward_hook(lambda mod, gi, go: print("bw", gi, go))
x = torch.ones(2, requires_grad=True)
l(x)["a"].sum().backward()
class T(nn.Module):
    def forward(self, x): return x * 2, x * 3
t = T()
t.register_backward_hook(lambda mod, gi, go: print("bw", gi, go))
sum(v.sum() for v in t(x)).backward()
class C(nn.Module):
    def forward(self, x): return (x * 2).sin()
c = C()
c.register_backward_hook(lambda mod, gi, go: print("bw", gi, go))
c(x).sum().backward()
from torch.nn.modules.module import register_module_module_registration_hook as rm, register_module_parameter_registration_hook as rp, register_module_buffer_registration_hook as rb
torch.manual_seed(0)
h = rp(lambda mod, n, p: Parameter(p.detach() * 0) if p is not None else None)
nn.Linear(1, 1).weight
h.remove()
h = rm(lambda mod, n, p: nn.Tanh())
nn.Sequential(nn.ReLU(), nn.Linear(1, 1))
q = nn.ModuleDict({"a": nn.ReLU()})
q.add_module("b", None)
q
h.remove()
h = rb(lambda mod, n, b: print(n, b))
bn = nn.BatchNorm1d(1)
h.remove()
