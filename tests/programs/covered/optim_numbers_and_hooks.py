"""The numbers of SGD and Adam with every option; hooks; an optimiser of one's own."""

import torch
from torch import nn, optim
import copy
torch.manual_seed(0)
def run(make, steps=4, **kw):
    w = torch.tensor([[1.0, -2.0], [0.5, 3.0]], requires_grad=True)
    b = torch.tensor([0.1], requires_grad=True)
    o = make([w, b], **kw)
    for i in range(steps):
        o.zero_grad()
        loss = ((w.sum(1) - 1) ** 2).sum() + (b * 3).exp().sum()
        loss.backward()
        o.step()
    return w.detach(), b.detach(), w._version
run(optim.SGD, lr=0.01)
run(optim.SGD, lr=0.01, momentum=0.9)
run(optim.SGD, lr=0.01, momentum=0.9, dampening=0.1)
run(optim.SGD, lr=0.01, momentum=0.9, nesterov=True)
run(optim.SGD, lr=0.01, weight_decay=0.1)
run(optim.SGD, lr=0.01, weight_decay=0.1, momentum=0.9, nesterov=True)
run(optim.SGD, lr=0.01, maximize=True)
run(optim.SGD, lr=0.01, momentum=0.9, foreach=True)
run(optim.SGD, lr=0.01, momentum=0.9, fused=True)
run(optim.SGD, lr=torch.tensor(0.01))
run(optim.Adam, lr=0.01)
run(optim.Adam, lr=0.01, amsgrad=True)
run(optim.Adam, lr=0.01, weight_decay=0.1)
run(optim.Adam, lr=0.01, betas=(0.5, 0.9), eps=1e-3)
run(optim.Adam, lr=0.01, maximize=True)
run(optim.Adam, lr=0.01, foreach=True)
run(optim.Adam, lr=0.01, fused=True)
run(optim.Adam, lr=torch.tensor(0.01))
run(optim.AdamW, lr=0.01)
run(optim.AdamW, lr=0.01, weight_decay=0.5, amsgrad=True)
w = torch.ones(2, requires_grad=True)
o = optim.SGD([w], lr=0.1, momentum=0.9)
w.sum().backward()
o.step()
o.state_dict()
o.state
o.state[w]["momentum_buffer"] is w.grad
o.state_dict()["state"][0]["momentum_buffer"] is o.state[w]["momentum_buffer"]
for g in o.param_groups:
    g["lr"] = 0.01
o.param_groups[0]["lr"]
o.param_groups[0].keys()
o.step()
w, w._version
o.zero_grad()
o.step()
w._version
with torch.no_grad():
    w -= 0.1 * torch.ones(2)
w.data -= 1
w._version
o.load_state_dict(o.state_dict())
sd = copy.deepcopy(o.state_dict())
o2 = optim.SGD([torch.zeros(2, requires_grad=True)], lr=5.)
o2.load_state_dict(sd)
o2
o2.state
o3 = optim.SGD([torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)], lr=5.)
o3.load_state_dict(sd)
o3.load_state_dict({"state": {}, "param_groups": []})
groups = optim.SGD([{"params": [w], "lr": 0.5}, {"params": [torch.ones(1, requires_grad=True)]}], lr=0.1, momentum=0.8)
groups
[g["lr"] for g in groups.param_groups]
groups.add_param_group({"params": [torch.ones(3, requires_grad=True)], "weight_decay": 0.1})
len(groups.param_groups), groups.param_groups[2]["momentum"]
groups.state_dict()
type(groups), type(optim.Adam([w]))
isinstance(groups, optim.Optimizer)
optim.SGD
optim.Adam
optim.Optimizer
o.register_step_pre_hook(lambda opt, args, kwargs: print("pre", args, kwargs))
o.register_step_post_hook(lambda opt, args, kwargs: print("post", args, kwargs))
o.step()
o.step(None)
o.step(3)
o.register_state_dict_pre_hook(lambda opt: print("sd pre"))
o.register_state_dict_post_hook(lambda opt, sd: print("sd post", list(sd)))
_ = o.state_dict()
o.register_load_state_dict_pre_hook(lambda opt, sd: print("load pre"))
o.register_load_state_dict_post_hook(lambda opt: print("load post"))
o.load_state_dict(sd)
p = torch.ones(2, requires_grad=True)
o = optim.Adam([p], lr=0.1)
(p * torch.tensor([1., 2.])).sum().backward()
o.step()
o.state_dict()
o.state[p]["exp_avg_sq"]
p.grad = torch.tensor([float("nan"), 1.])
o.step()
p
p.grad = None
o.step()
q = torch.ones(2, requires_grad=True)
class Plain(optim.Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))
    @torch.no_grad()
    def step(self):
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    p.add_(p.grad, alpha=-g["lr"])
                    self.state[p]["n"] = self.state[p].get("n", 0) + 1
o = Plain([q])
(q * 3).sum().backward()
o.step()
q
o
o.state_dict()
o.step.__name__
copy.deepcopy(o).state_dict()
e = optim.SGD([torch.ones(1, requires_grad=True)], lr=1e-3, weight_decay=1e-4)
print(e)
optim.SGD([torch.ones(1, requires_grad=True, dtype=torch.float64)], lr=1).param_groups
a = nn.Parameter(torch.ones(2, dtype=torch.float16)); a.grad = torch.ones(2, dtype=torch.float16)
optim.SGD([a], lr=0.1).step(); a
optim.Adam([a], lr=0.1).step(); a
z = torch.zeros(3, requires_grad=True)
z.grad = torch.ones(2)
oz = optim.SGD([z], lr=0.1)
y = z * 2
y.sum().backward()
oz.step()
y = (z * z).sum()
oz.step()
y.backward()
