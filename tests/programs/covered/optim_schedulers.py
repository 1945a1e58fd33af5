"""The learning rates that each scheduler gives, epoch by epoch, and its state."""

import torch
from torch import nn, optim
from torch.optim import lr_scheduler
from torch.optim.lr_scheduler import StepLR, ExponentialLR, CosineAnnealingLR, LambdaLR, ReduceLROnPlateau
p = nn.Parameter(torch.ones(1))
def run(make, n=7, **kw):
    o = optim.SGD([p], lr=kw.pop("lr", 0.1))
    s = make(o, **kw)
    out = [o.param_groups[0]["lr"]]
    for _ in range(n):
        o.step()
        s.step()
        out.append(s.get_last_lr()[0])
    return out, s.state_dict()
run(StepLR, step_size=3)
run(StepLR, step_size=2, gamma=0.5)
run(ExponentialLR, gamma=0.9)
run(CosineAnnealingLR, T_max=3, n=9)
run(CosineAnnealingLR, T_max=5, eta_min=0.01)
run(LambdaLR, lr_lambda=lambda e: 1 / (e + 1))
run(lr_scheduler.MultiplicativeLR, lr_lambda=lambda e: 0.95)
run(lr_scheduler.MultiStepLR, milestones=[2, 4, 4])
run(lr_scheduler.ConstantLR, factor=0.5, total_iters=3)
run(lr_scheduler.LinearLR, start_factor=0.25, total_iters=4)
run(lr_scheduler.PolynomialLR, total_iters=4, power=2.0)
run(StepLR, step_size=2, lr=torch.tensor(0.1))
o = optim.SGD([{"params": [p]}, {"params": [nn.Parameter(torch.zeros(1))], "lr": 1.}], lr=0.1)
s = LambdaLR(o, [lambda e: 0.5 ** e, lambda e: 1 - 0.1 * e])
s.step()
s.get_last_lr()
s.get_lr()
s.step(5)
s.get_last_lr()
s.base_lrs
s.last_epoch
o
LambdaLR(o, [lambda e: 1])
StepLR(3, 2)
StepLR(o)
ExponentialLR(o)
lr_scheduler.LRScheduler(o)
type(s)
isinstance(s, lr_scheduler.LRScheduler)
StepLR(o, 2, last_epoch=3)
StepLR(optim.SGD([p], lr=1.), 2, last_epoch=3)
o = optim.SGD([p], lr=1.)
s = StepLR(o, 1, 0.5)
for _ in range(3):
    o.step(); s.step()
sd, osd = s.state_dict(), o.state_dict()
sd
osd
o2 = optim.SGD([p], lr=9.)
s2 = StepLR(o2, 7)
o2.load_state_dict(osd); s2.load_state_dict(sd)
s2.get_last_lr(), o2.param_groups[0]["lr"], s2.step_size
o2.step(); s2.step()
s2.get_last_lr()
pl = ReduceLROnPlateau(optim.Adam([p], lr=1.), factor=0.5, patience=1)
for m in [1., 0.9, 0.95, 0.95, torch.tensor(0.95), 0.94]:
    pl.step(m); print(pl.get_last_lr(), pl.num_bad_epochs, pl.best)
pl.state_dict()
ReduceLROnPlateau(o, mode="low")
ReduceLROnPlateau(o, factor=1.)
ReduceLROnPlateau(o, threshold_mode="x")
ReduceLROnPlateau(3)
pl.step()
lr_scheduler.ConstantLR(o, 2)
lr_scheduler.LinearLR(o, 0)
for g in o.param_groups:
    g["lr"] = 7.
s.step()
o.param_groups[0]["lr"]
s = CosineAnnealingLR(o, 10)
s.step()
print(o.param_groups[0]["initial_lr"])
