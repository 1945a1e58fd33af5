"""What optimisers take and refuse; groups, state dicts, closures."""

import torch
import torch.nn as nn
from torch import optim
w = torch.ones(2, requires_grad=True)
o = optim.SGD([w], lr=0.1)
o
o.param_groups
o.state_dict()
o.defaults
o.state
print(o)
optim.Adam([w])
optim.SGD([w], lr=0.1, momentum=0.9, nesterov=True)
optim.SGD([w], lr=-1)
optim.SGD([w], lr=0.1, momentum=-1)
optim.SGD([w], lr=0.1, weight_decay=-1)
optim.SGD([w], lr=0.1, nesterov=True)
optim.SGD([])
optim.SGD(w)
optim.SGD([w * 2])
optim.SGD([1])
optim.SGD(["w"])
optim.SGD({w})
optim.SGD([w, w])
optim.SGD([{"params": [w]}, {"params": [w]}])
optim.SGD([{"params": w, "lr": 3}], lr=0.1)
optim.SGD({"params": [w]})
optim.SGD(w, 0.1)
optim.SGD(None)
optim.SGD(5)
optim.Adam([w], lr=-1.)
optim.Adam([w], betas=(1., 0.9))
optim.Adam([w], betas=(0.9, 1.))
optim.Adam([w], eps=-1)
optim.Adam([w], weight_decay=-1)
optim.Adam([w], amsgrad=True).param_groups
optim.SGD([w], lr=torch.tensor(0.1))
optim.SGD([w], lr=torch.tensor([0.1, 0.2]))
optim.SGD([w], foreach=True, fused=True)
optim.SGD(params=[w], lr=0.1, foo=3)
optim.SGD()
optim.Optimizer([w], {})
optim.Optimizer([w], {"lr": 1}).step()
o = optim.SGD([w], lr=0.5)
o.step()
w
(w * 3).sum().backward()
o.step()
w
o.zero_grad()
w.grad
(w * 3).sum().backward()
o.zero_grad(set_to_none=False)
w.grad
def closure():
    o.zero_grad()
    l = (w ** 2).sum()
    l.backward()
    return l
o.step(closure)
w
a = optim.Adam([w], lr=0.1)
a.step(closure)
a.state_dict()
a.state
w
a.step(closure=closure)
w, w._version
a.state[w]["step"]
a.add_param_group({"params": torch.zeros(1, requires_grad=True), "lr": 3})
a
a.add_param_group({"params": w})
a.add_param_group([w])
a.add_param_group({"params": torch.zeros(1)})
len(a.param_groups)
b = optim.Adam([w], lr=0.5)
b.load_state_dict(a.state_dict())
b.load_state_dict({"state": {}, "param_groups": [{"params": [0, 1]}]})
b.load_state_dict({})
c = optim.Adam([torch.ones(2, requires_grad=True)], lr=0.5)
sd = optim.Adam([w], lr=0.25).state_dict()
c.load_state_dict(sd)
c
optim.SGD([{"params": [w], "name": "first"}], lr=0.1)
optim.SGD([("w", w)], lr=0.1).param_groups
optim.SGD([("w", w)], lr=0.1).state_dict()
optim.SGD([("w", w), w], lr=0.1)
optim.SGD(nn.Linear(1, 1).named_parameters(), lr=0.1)
optim.SGD([{"lr": 3}], lr=0.1)
optim.SGD([torch.tensor([1, 2])], lr=0.1)
n = nn.Parameter(torch.ones(1), requires_grad=False)
o = optim.SGD([n], lr=0.1)
o.step()
