"""State dicts that fit and that do not, hooks around them, parameters as a vector, clipping, parameters and buffers."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import copy, warnings
from collections import OrderedDict
l = nn.Linear(5, 5)
l.load_state_dict("foo")
l.load_state_dict(OrderedDict(weight=torch.ones(5, 5)), strict=True)
b = nn.Sequential(l, nn.Linear(5, 5))
sd = b.state_dict()
sd["1.weight"] = sd["1.weight"][:, :3]
b.load_state_dict(sd)
sd = b.state_dict(); sd["submodule.param"] = 1
b.load_state_dict(sd)
b.load_state_dict(sd, strict=False)
sd = b.state_dict(); sd["0.foo"] = torch.ones(1); del sd["0.bias"]
b.load_state_dict(sd)
r = b.load_state_dict(sd, strict=False); r
r == (["0.bias"], ["0.foo"])
r[0], r._fields
sd = b.state_dict(); sd["0.weight"] = torch.ones(5); sd["1.weight"] = torch.ones(25)
b.load_state_dict(sd)
sd = b.state_dict(); sd["0.weight"] = None
b.load_state_dict(sd)
m = nn.Linear(2, 2)
m.register_buffer("b", torch.zeros(3))
s2 = m.state_dict(); s2["b"] = torch.tensor([1, 2, 3])
m.load_state_dict(s2)
m.b
m.load_state_dict(s2, assign=True)
m.b
m.load_state_dict({"weight": torch.ones(2, 2), "bias": torch.zeros(2), "b": torch.ones(1)}, assign=True)
a = torch.ones(2, 2)
m.load_state_dict({"weight": a, "bias": torch.zeros(2), "b": torch.ones(3)}, assign=True)
m.weight, m.weight.data_ptr() == a.data_ptr(), type(m.weight)
p = nn.Parameter(torch.zeros(2, 2), requires_grad=False)
m.load_state_dict({"weight": p, "bias": torch.zeros(2), "b": torch.ones(3)}, assign=True)
m.weight is p, p.requires_grad
ww = torch.ones(2, 2, requires_grad=True) * 2
m.load_state_dict({"weight": ww, "bias": torch.zeros(2), "b": torch.ones(3)})
m.weight, m.weight.is_leaf
m.load_state_dict({"weight": ww, "bias": torch.zeros(2), "b": torch.ones(3)}, assign=True)
m.weight.is_leaf
v = m.weight._version
m.load_state_dict(m.state_dict())
m.weight._version - v
m.weight.grad_fn
out = m(torch.ones(1, 2))
m.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(2), "b": torch.ones(3)})
out.sum().backward()
x = torch.ones(1, 2, requires_grad=True)
out = m(x)
m.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(2), "b": torch.ones(3)})
out.sum().backward()
list(m.state_dict())
m.state_dict()
list(nn.Sequential(m).state_dict())
q = nn.Linear(1, 1)
q.load_state_dict({}, strict=False)
q.load_state_dict({})
q.state_dict()._metadata
hasattr(q.state_dict(), "_metadata")
copy.deepcopy(q.state_dict()).keys()
{k: v.clone() for k, v in q.state_dict().items()}.keys()
class Share(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2, bias=False)
        self.b = nn.Linear(2, 2, bias=False)
        self.b.weight = self.a.weight
sh = Share()
sh.state_dict().keys()
sh2 = copy.deepcopy(sh)
sh2.a.weight is sh2.b.weight
sh.load_state_dict({"a.weight": torch.ones(2, 2), "b.weight": torch.zeros(2, 2)})
sh.a.weight
sh.load_state_dict({"a.weight": torch.ones(2, 2), "b.weight": torch.zeros(2, 2)}, assign=True)
sh.a.weight is sh.b.weight
for p in l.parameters():
    p.data.fill_(1)
l.weight.data.norm()
x = torch.ones(2, 5)
F.relu(x.view(10)[:5], inplace=True)
y = torch.randn(3, requires_grad=True)
F.relu(y, inplace=True)
F.relu_(y)
torch.nn.utils.parameters_to_vector(l.parameters()).shape
vec = torch.arange(30.)
torch.nn.utils.vector_to_parameters(vec, l.parameters())
l.weight[0], l.bias
vec[0] = 99
l.weight[0, 0]
torch.nn.utils.vector_to_parameters(torch.arange(3.), l.parameters())
torch.nn.utils.vector_to_parameters([1], l.parameters())
l.weight.grad = torch.ones(5, 5); l.bias.grad = torch.ones(5) * 2
nn.utils.clip_grad_norm_(l.parameters(), 1.0)
l.bias.grad
nn.utils.clip_grad_norm_(l.parameters(), 1.0, norm_type=float("inf"))
nn.utils.clip_grad_norm_(l.parameters(), 0.5, norm_type=1)
nn.utils.clip_grad_norm_(l.weight, 0.1)
nn.utils.clip_grad_norm_([], 1.)
nn.utils.clip_grad_norm_(iter(()), 1.)
g = l.parameters(); list(g); nn.utils.clip_grad_norm_(g, 1.)
l.weight.grad[0, 0] = float("nan")
nn.utils.clip_grad_norm_(l.parameters(), 1.0, error_if_nonfinite=True)
nn.utils.clip_grad_norm_(l.parameters(), 1.0)
nn.utils.clip_grad_norm_(l.parameters(), "a")
nn.utils.clip_grad_value_(l.parameters(), 0.01)
l.bias.grad
nn.Parameter(torch.ones(2))
nn.Parameter([1., 2.])
nn.Parameter(torch.tensor([1, 2]))
nn.Parameter(torch.tensor([1, 2]), requires_grad=False)
nn.Parameter()
nn.Parameter(torch.ones(2, requires_grad=True) * 2)
pp = nn.Parameter(torch.ones(2)); isinstance(pp, torch.Tensor), isinstance(pp, nn.Parameter), type(pp), type(pp * 2), type(pp.data), type(pp[0]), type(pp.detach()), type(pp.clone())
repr(nn.Parameter(torch.ones(2, 2, dtype=torch.float64)))
print(nn.Parameter(torch.ones(1)).requires_grad_(False))
str([nn.Parameter(torch.ones(1))])
isinstance(torch.ones(1), nn.Parameter)
nn.Parameter(nn.Parameter(torch.ones(1))).is_leaf
t = torch.ones(2); pt = nn.Parameter(t); pt.data_ptr() == t.data_ptr(); t.add_(1); pt
nn.Buffer(torch.ones(2))
class WB(nn.Module):
    def __init__(self):
        super().__init__()
        self.buf = nn.Buffer(torch.ones(2))
        self.np = nn.Buffer(torch.ones(2), persistent=False)
WB().state_dict(), dict(WB().named_buffers())
