"""Small recipes: target networks, distillation, adversarial inputs, averages of models, schedules by hand."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
import copy, math
# Q-learning target net
torch.manual_seed(3)
q = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 2))
target = copy.deepcopy(q).eval()
for p in target.parameters():
    p.requires_grad_(False)
opt = optim.Adam(q.parameters(), lr=1e-2)
s, a, r, s2 = torch.randn(3, 2), torch.tensor([[0], [1], [0]]), torch.ones(3), torch.randn(3, 2)
qa = q(s).gather(1, a).squeeze(1)
with torch.no_grad():
    y = r + 0.9 * target(s2).max(1).values
loss = F.mse_loss(qa, y)
opt.zero_grad(); loss.backward(); opt.step()
loss, qa, y
(q[0].weight != target[0].weight).any(), target[0].weight.grad
target.load_state_dict(q.state_dict())
torch.equal(q[2].bias, target[2].bias), target[2].bias.requires_grad
# distillation / stop gradient
teacher, student = nn.Linear(2, 3), nn.Linear(2, 3)
x = torch.randn(4, 2)
T = 2.0
kd = -(F.softmax(teacher(x).detach() / T, 1) * F.log_softmax(student(x) / T, 1)).sum() * T * T
kd.backward()
teacher.weight.grad, student.weight.grad.shape
kd
# contrastive with stop grad
z1, z2 = student(x), teacher(x)
(-(z1 * z2.detach()).sum(-1).mean()).backward()
teacher.weight.grad
# input optimisation
img = torch.zeros(1, 2, requires_grad=True)
io = optim.SGD([img], lr=1.)
for _ in range(3):
    io.zero_grad()
    l = -teacher(img)[0, 1]
    l.backward()
    io.step()
img, teacher.weight.grad is None
adv = x.clone().requires_grad_(True)
F.cross_entropy(student(adv), torch.tensor([0, 1, 2, 0])).backward()
eps = 0.1
pert = (adv + eps * adv.grad.sign()).detach()
pert.requires_grad, (pert - x).abs().max()
torch.clamp(pert, 0, 1)
# two optimizers on one model
body, head = nn.Linear(2, 2), nn.Linear(2, 1)
o1, o2 = optim.SGD(body.parameters(), lr=0.1), optim.Adam(head.parameters(), lr=0.1)
head(body(x)).mean().backward()
o1.step(); o2.step()
o1.zero_grad()
body.weight.grad, head.weight.grad is None
# loss weighting, multi task
l1, l2 = head(body(x)).mean(), body(x).pow(2).mean()
logv = nn.Parameter(torch.zeros(2))
tot = torch.exp(-logv[0]) * l1 + logv[0] + torch.exp(-logv[1]) * l2 + logv[1]
tot.backward()
logv.grad
# grad norms by layer
[(n, round(p.grad.norm().item(), 4)) for n, p in body.named_parameters()]
total = torch.sqrt(sum(p.grad.norm() ** 2 for p in body.parameters()))
torch.allclose(total, torch.nn.utils.clip_grad_norm_(body.parameters(), 1e9))
torch.stack([p.grad.norm() for p in body.parameters()]).norm()
# masks and pruning by hand
mask = (body.weight.abs() > 0.3).float()
body.weight.data *= mask
body.weight.register_hook(lambda g: g * mask)
body.zero_grad(); body(x).sum().backward()
(body.weight.grad * (1 - mask)).abs().sum()
# weight clipping WGAN
for p in body.parameters():
    p.data.clamp_(-0.01, 0.01)
body.weight.abs().max()
# noise
with torch.no_grad():
    for p in body.parameters():
        p.add_(torch.randn_like(p) * 0.01)
body.weight
# sam-like perturb and restore
old = [p.clone() for p in body.parameters()]
old[0].requires_grad, old[0].grad_fn
for p, o in zip(body.parameters(), old):
    p.data.copy_(o.data)
old = {n: p.data for n, p in body.named_parameters()}
body.weight.data.add_(1)
(old["weight"] == body.weight).all()
old = {n: p.data.clone() for n, p in body.named_parameters()}
body.weight.data.add_(1)
(old["weight"] == body.weight).any()
# averaging models
ms = [nn.Linear(1, 1) for _ in range(3)]
for i, m_ in enumerate(ms):
    nn.init.constant_(m_.weight, float(i)); nn.init.zeros_(m_.bias)
avg = copy.deepcopy(ms[0])
sd = {k: sum(m_.state_dict()[k] for m_ in ms) / 3 for k in avg.state_dict()}
avg.load_state_dict(sd)
avg.weight
torch.stack([m_.weight for m_ in ms]).mean(0)
ens = [m_(torch.ones(1, 1)) for m_ in ms]
torch.stack(ens).var(0)
# interpolation of two models
al = 0.3
mix = nn.Linear(1, 1)
with torch.no_grad():
    for p, a_, b_ in zip(mix.parameters(), ms[0].parameters(), ms[2].parameters()):
        p.copy_(al * a_ + (1 - al) * b_)
mix.weight
mix.weight.copy_(torch.ones(1, 1))
mix.weight.data.copy_(torch.ones(1, 1))
# schedules by hand
o = optim.SGD(mix.parameters(), lr=1.)
for ep in range(3):
    lr = 1. * 0.5 ** ep
    for g in o.param_groups:
        g["lr"] = lr
    print(ep, o.param_groups[0]["lr"])
