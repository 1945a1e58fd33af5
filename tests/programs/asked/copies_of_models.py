"""A model copied, restored, averaged, tied to another."""

import torch
import copy
import torch.nn as nn
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
clone = copy.deepcopy(model)
for p, q in zip(model.parameters(), clone.parameters()):
    print(p.data_ptr() == q.data_ptr(), torch.equal(p, q), q.requires_grad, q.grad)
x = torch.randn(5, 3)
model(x).mean().backward()
clone2 = copy.deepcopy(model)
[p.grad is None for p in clone2.parameters()]
best = copy.deepcopy(model.state_dict())
opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.step()
torch.equal(best["0.weight"], model.state_dict()["0.weight"])
snap = model.state_dict()
opt.step()
torch.equal(snap["0.weight"], model.state_dict()["0.weight"])
model.load_state_dict(best)
torch.equal(best["0.weight"], model[0].weight)
copy.copy(model)[0] is model[0]
y = model(x)
copy.deepcopy(y)
copy.deepcopy(y.detach())
copy.deepcopy(opt).param_groups[0]["lr"]
opt2 = copy.deepcopy(opt)
opt2.param_groups[0]["params"][0] is model[0].weight
w = torch.ones(2, requires_grad=True)
w.grad = torch.ones(2) * 3
w2 = copy.deepcopy(w)
w2, w2.grad
z = w * 2
copy.deepcopy(z)
copy.copy(z)
h = {"a": w, "b": w}
h2 = copy.deepcopy(h)
h2["a"] is h2["b"]
v = torch.arange(6.)[2:4]
v2 = copy.deepcopy(v)
v2.untyped_storage().nbytes(), v2.storage_offset()
target = nn.Linear(2, 2)
net = nn.Linear(2, 2)
target.load_state_dict(net.state_dict())
tau = 0.005
for tp, p in zip(target.parameters(), net.parameters()):
    tp.data.copy_(tau * p.data + (1.0 - tau) * tp.data)
for tp, p in zip(target.parameters(), net.parameters()):
    tp.data.mul_(1 - tau).add_(p.data, alpha=tau)
with torch.no_grad():
    for tp, p in zip(target.parameters(), net.parameters()):
        tp.lerp_(p, tau)
target.weight
for tp, p in zip(target.parameters(), net.parameters()):
    tp.copy_(p)
ema = [p.clone().detach() for p in net.parameters()]
with torch.no_grad():
    for e, p in zip(ema, net.parameters()):
        e.sub_((1 - 0.9) * (e - p))
ema
a, b = nn.Linear(2, 2), nn.Linear(2, 2)
b.weight = a.weight
b.weight is a.weight
nn.Sequential(a, b).state_dict().keys()
len(list(nn.Sequential(a, b).parameters()))
b.weight.data = torch.zeros(2, 2)
a.weight
a.weight = nn.Parameter(a.weight * 2)
a.weight = a.weight * 2
b.weight.data += 1
b.weight
b.weight += 1
b.weight[0] = 3
with torch.no_grad():
    b.weight[0] = 3
b.weight
torch.nn.init.zeros_(b.weight[1])
b.weight[1].data.fill_(7)
b.weight
