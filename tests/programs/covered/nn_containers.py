"""Sequences, lists and dictionaries of modules and of parameters: every method, every refusal."""

import torch
import torch.nn as nn
from collections import OrderedDict
s = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
s[0]
s[-1]
s[3]
s[1:]
s["0"]
len(s)
s.append(nn.Tanh())
s.insert(0, nn.Identity())
s.insert(9, nn.Identity())
s.insert(0, 3)
s.pop(0)
s.pop(9)
del s[0]
s
del s[5]
s[0] = nn.Sigmoid()
s[0]
s[0] = 3
s + nn.Sequential(nn.ReLU())
s + [nn.ReLU()]
s += nn.Sequential(nn.ReLU())
s
s * 2
2 * s
s *= 2
s * -1
s * 1.5
s.extend([nn.ReLU()])
s.extend(nn.Sequential(nn.Tanh()))
s.extend(nn.ReLU())
nn.Sequential(3)
nn.Sequential([nn.ReLU()])
nn.Sequential(nn.ReLU(), None)
nn.Sequential({"a": nn.ReLU()})
nn.Sequential(OrderedDict(a=nn.ReLU())).a
nn.Sequential()(3)
for layer in s:
    print(layer)
list(s.children())
isinstance(s, nn.Module), nn.ReLU in [type(m) for m in s]
l = nn.ModuleList([nn.ReLU(), nn.Tanh()])
l[0], l[-1]
l[5]
l.append(nn.Sigmoid())
l.insert(1, nn.Identity())
l.extend([nn.ReLU()])
l.extend(3)
l.append(3)
l += [nn.ReLU()]
l
l + [nn.Tanh()]
l[1:3]
l.pop(0)
del l[0]
del l[0:1]
l
l(3)
l.forward
l[0] = nn.Linear(1, 1)
l["a"]
nn.ModuleList(nn.ReLU())
nn.ModuleList([1])
nn.ModuleList(3)
d = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
d["a"]
d["c"]
"a" in d, len(d), list(d), list(d.keys()), list(d.values()), list(d.items())
d.update({"c": nn.Identity(), "a": nn.Sigmoid()})
d.update([("z", nn.ReLU())])
d.update([("z",)])
d.update(3)
d.pop("a")
d.pop("a")
d["x.y"] = nn.ReLU()
d["keys"] = nn.ReLU()
d[3] = nn.ReLU()
d["f"] = 3
del d["b"]
d.clear()
d
nn.ModuleDict([["a", nn.ReLU()], ["b", nn.Tanh()]])
nn.ModuleDict(a=nn.ReLU())
p = nn.ParameterList([torch.ones(1) for _ in range(2)])
p
p[0]
p[-1]
p[5]
p.append(torch.zeros(2))
p += [torch.ones(1, 1)]
p.extend([torch.ones(1)])
p.extend(3)
p[0] = torch.zeros(3)
p[0]
p[1:]
len(p), [n for n, _ in p.named_parameters()]
p(3)
p.pop()
nn.ParameterList([1, 2])
nn.ParameterList(torch.ones(1))
nn.ParameterList()
q = nn.ParameterDict({"b": torch.ones(1), "a": nn.Parameter(torch.zeros(2))})
q
q["b"]
q.b
q["zz"]
q.get("zz"), q.get("zz", 3)
q["n"] = 5
q
q.pop("b")
"a" in q, len(q), list(q)
q.update({"c": torch.ones(1)})
q.setdefault("d", torch.ones(1))
q.popitem()
q.copy()
q | nn.ParameterDict({"e": torch.ones(1)})
q.state_dict()
del q["a"]
q.clear()
q
list(reversed(nn.ParameterDict({"x": torch.ones(1), "y": torch.ones(1)})))
nn.ParameterDict({"a": torch.ones(1)}).fromkeys(["x"], torch.ones(1))
