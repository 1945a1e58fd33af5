"""Options of optimisers that are refused, groups in every form, state taken over, steps of one's own."""

import torch
from torch import nn, optim
import copy, pickle
def P(*v): return torch.tensor(v or (1., 2.), requires_grad=True)
T = torch.tensor
optim.Adam([P()], lr=T([1., 2.]))
optim.Adam([P()], lr=T(0.1), foreach=True)
optim.Adam([P()], betas=(T(0.9), 0.99))
optim.Adam([P()], betas=(0.9, T(0.99)))
optim.Adam([P()], betas=(T(0.9), T(0.99)))
optim.Adam([P()], betas=(T(0.9), T(0.99)), foreach=True)
optim.Adam([P()], betas=(T([0.9, 0.9]), T(0.99)))
optim.Adam([P()], betas=(0.9,))
optim.Adam([P()], betas=0.9)
optim.Adam([P()], betas=(1, 0.9))
optim.Adam([P()], betas=(0, 0.9))
optim.Adam([P()], lr="a")
optim.SGD([P()], lr="a")
optim.SGD([P()], lr=None)
optim.SGD([P()], momentum=None)
optim.SGD([P()], 0.1, 0.9, 0.1, 0.2, False)
optim.SGD([P()], 0.1, 0.9, 0, 0, True, True)
optim.SGD([P()], lr=float("nan"))
optim.SGD([P()], lr=float("inf"))
optim.Adam([P()], 0.1, (0.9, 0.99), 1e-8, 0, True)
optim.Adam([P()], fused=True, foreach=True)
optim.Adam([P()], fused=True, differentiable=True)
optim.SGD([P()], fused=True, differentiable=True)
optim.Adam([P()], decoupled_weight_decay=True, weight_decay=0.1)
optim.AdamW([P()], decoupled_weight_decay=False)
optim.AdamW([P()], maximize=True, amsgrad=True)
optim.AdamW([P()], 1e-3, (0.9, 0.99), 1e-8, 0.1, True).defaults
isinstance(optim.AdamW([P()]), optim.Adam)
def run(o, p, n=3):
    for _ in range(n):
        o.zero_grad(); (p ** 2).sum().backward(); o.step()
    return p.detach().clone()
p = P(); run(optim.SGD([p], lr=T(0.1)), p)
p = P(); o = optim.SGD([p], lr=T(0.1)); run(o, p); o.param_groups[0]["lr"], o
p = P(); run(optim.Adam([p], betas=(T(0.9), T(0.99)), lr=0.1), p)
p = P(); run(optim.Adam([p], lr=T(0.1)), p)
p = P(); run(optim.SGD([p], lr=0), p)
p = P(); run(optim.SGD([p], lr=1), p)
p = P(); run(optim.SGD([p], lr=1, momentum=1), p)
p = P(); run(optim.Adam([p], lr=1, eps=0), p)
# dicts and generators
m = nn.Linear(2, 1)
optim.SGD(m.parameters(), lr=0.1).param_groups[0]["params"][0] is m.weight
optim.SGD([{"params": m.parameters()}], lr=0.1)
optim.SGD([{"params": m.parameters(), "foo": 3}], lr=0.1).param_groups[0]["foo"]
optim.SGD([{"params": []}], lr=0.1)
optim.SGD([{"params": [m.weight]}, m.bias], lr=0.1)
optim.SGD([[m.weight]], lr=0.1)
optim.SGD([m], lr=0.1)
optim.SGD(m, lr=0.1)
optim.SGD(m.named_parameters(), lr=0.1).param_groups[0]["param_names"]
optim.SGD([{"params": m.named_parameters()}, {"params": [P()]}], lr=0.1)
optim.SGD(((n, q) for n, q in m.named_parameters()), lr=0.1)
optim.SGD(m.state_dict(), lr=0.1)
optim.SGD(m.state_dict().values(), lr=0.1)
optim.SGD([None], lr=0.1)
optim.SGD([P().data], lr=0.1)
optim.SGD([P() * 2], lr=0.1)
q = P() * 2; q.retain_grad(); optim.SGD([q], lr=0.1)
# state
p = P(); o = optim.SGD([p], lr=0.1, momentum=0.9); run(o, p)
s = o.state_dict()
s["state"][0]["momentum_buffer"] is o.state[p]["momentum_buffer"]
s["param_groups"][0] is o.param_groups[0]
o.load_state_dict(s)
o.state[p]["momentum_buffer"] is s["state"][0]["momentum_buffer"]
gr = o.param_groups[0]
o.load_state_dict(copy.deepcopy(s))
gr is o.param_groups[0]
o2 = copy.deepcopy(o)
o2.param_groups[0]["params"][0] is p
list(o2.state) == list(o.state), len(o2.state)
o3 = pickle.loads(pickle.dumps(o))
o3
o.state.clear(); o.step(); o.state
o.__getstate__().keys()
del o.param_groups[0]
o.add_param_group({"params": P(3.), "lr": 0.5})
o
o.add_param_group({})
o.add_param_group({"params": P(3.), "lr": -1})
d = optim.SGD([P().double()], lr=0.1) if False else None
p16 = torch.ones(2, dtype=torch.float64, requires_grad=True)
oo = optim.Adam([p16]); p16.sum().backward(); oo.step(); oo.state[p16]["exp_avg"].dtype, oo.state[p16]["step"].dtype
ld = optim.Adam([torch.ones(2, requires_grad=True)]); ld.load_state_dict(oo.state_dict()); list(ld.state.values())[0]["exp_avg"].dtype, list(ld.state.values())[0]["step"].dtype
class Half(optim.SGD):
    def step(self, closure=None):
        print("custom step")
        return super().step(closure)
p = P(); h = Half([p], lr=0.5)
(p * 2).sum().backward()
h.register_step_pre_hook(lambda *a: print("pre"))
h.step()
p
type(h)
h
def twice():
    h.zero_grad(); l = (p ** 2).sum(); l.backward(); return l
h.step(twice)
with torch.no_grad():
    h.step(twice)
for _ in range(2):
    loss = h.step(twice)
loss
h.step()
h2 = optim.SGD([p], lr=0.1)
h2.register_step_pre_hook(lambda o, a, k: ((o, lambda: print("my closure")), {}))
h2.step()
h2.register_state_dict_post_hook(lambda o, s: {"mine": 1})
h2.state_dict()
h2.register_load_state_dict_pre_hook(lambda o, s: {"state": {}, "param_groups": o.param_groups} if "mine" in s else None)
h2.load_state_dict({"mine": 1})
