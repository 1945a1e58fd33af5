"""Two networks, two losses: which step may come when; what is frozen, kept, lost."""

import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np
import copy
torch.manual_seed(1)
N_IDEAS, ART = 5, 15
G = nn.Sequential(nn.Linear(N_IDEAS, 32), nn.ReLU(), nn.Linear(32, ART))
D = nn.Sequential(nn.Linear(ART, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
opt_D = torch.optim.Adam(D.parameters(), lr=1e-3)
opt_G = torch.optim.Adam(G.parameters(), lr=1e-3)
art = torch.linspace(-1, 1, ART).repeat(4, 1)
ideas = torch.randn(4, N_IDEAS)
paint = G(ideas)
p0, p1 = D(art), D(paint)
D_loss = -torch.mean(torch.log(p0) + torch.log(1. - p1))
G_loss = torch.mean(torch.log(1. - p1))
opt_D.zero_grad()
D_loss.backward(retain_graph=True)
opt_D.step()
opt_G.zero_grad()
G_loss.backward()
opt_G.step()
D_loss, G_loss
paint = G(ideas)
p1 = D(paint.detach())
D_loss = -torch.mean(torch.log(D(art)) + torch.log(1. - p1))
opt_D.zero_grad(); D_loss.backward(); opt_D.step()
G_loss = torch.mean(torch.log(1. - D(paint)))
opt_G.zero_grad(); G_loss.backward(); opt_G.step()
D_loss, G_loss
real, fake = torch.ones(4, 1), torch.zeros(4, 1)
bce = nn.BCELoss()
for step in range(3):
    z = torch.randn(4, N_IDEAS)
    d = bce(D(art), real) + bce(D(G(z).detach()), fake)
    opt_D.zero_grad(); d.backward(); opt_D.step()
    g = bce(D(G(z)), real)
    opt_G.zero_grad(); g.backward(); opt_G.step()
    print(f"{step}: D {d.item():.4f} G {g.item():.4f}")
[p.grad.abs().sum() > 0 for p in D.parameters()]
loss = F.mse_loss(G(ideas), art)
opt_G.step()
loss.backward()
# update only some params
params = [{"params": G[0].parameters(), "lr": 1e-2}, {"params": G[2].parameters()}]
o = torch.optim.SGD(params, lr=1e-3, momentum=0.9)
o
o.param_groups[0]["params"][0] is G[0].weight
# freeze and thaw
for name, p in G.named_parameters():
    p.requires_grad = name.startswith("2")
[(n, p.requires_grad) for n, p in G.named_parameters()]
F.mse_loss(G(ideas), art).backward()
[p.grad is None for p in G.parameters()]
o.zero_grad()
[p.grad for p in G.parameters()]
before = copy.deepcopy(G.state_dict())
F.mse_loss(G(ideas), art).backward()
o.step()
[(k, torch.equal(v, before[k])) for k, v in G.state_dict().items()]
# weight decay by hand
lam = 0.01
l2 = sum(p.pow(2.0).sum() for p in G.parameters())
l1 = sum(p.abs().sum() for p in G.parameters())
l2, l1
(F.mse_loss(G(ideas), art) + lam * l2).backward()
# per-sample grads
lin = nn.Linear(2, 1)
X = torch.arange(6.).view(3, 2)
per = []
for i in range(3):
    lin.zero_grad()
    lin(X[i]).sum().backward()
    per.append(lin.weight.grad.clone())
torch.cat(per)
per2 = []
for i in range(3):
    lin.zero_grad()
    lin(X[i]).sum().backward()
    per2.append(lin.weight.grad)
per2
per3 = []
for i in range(3):
    lin.zero_grad(set_to_none=False)
    lin(X[i]).sum().backward()
    per3.append(lin.weight.grad)
per3
# param as python number, detach history
hist = []
w = torch.tensor([2.0], requires_grad=True)
for _ in range(3):
    hist.append(w)
    l = (w - 1) ** 2
    l.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
    w.grad.zero_()
hist
hist2 = []
for _ in range(3):
    hist2.append(w.clone().detach())
    l = (w - 1) ** 2
    l.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad = None
hist2
for _ in range(2):
    l = (w - 1) ** 2
    l.backward()
    w = w - 0.1 * w.grad
    print(w, w.is_leaf, w.grad)
w = torch.tensor([2.0], requires_grad=True)
l = (w - 1) ** 2
l.backward()
w -= 0.1 * w.grad
w.data -= 0.1 * w.grad
w
w.grad.data.zero_()
w = torch.tensor([2.0], requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
opt.zero_grad(); ((w - 1) ** 2).backward(); opt.step(); w
w = w.detach() + 1
opt.step(); w
opt.param_groups[0]["params"]
m = nn.Linear(2, 2)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
m.weight = nn.Parameter(torch.zeros(2, 2))
m(torch.ones(2)).sum().backward(); opt.step()
m.weight
m.double()
m.weight.dtype, opt.param_groups[0]["params"][0].dtype
