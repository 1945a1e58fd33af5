"""Optim param groups."""
import torch
import torch.nn as nn
import torch.optim as optim
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
opt = optim.SGD([{"params": net[0].parameters()}, {"params": net[1].parameters(), "lr": 1e-3}], lr=1e-2, momentum=0.9)
opt
for g in opt.param_groups:
    print(g["lr"], len(g["params"]), g["momentum"])
for g in opt.param_groups:
    g["lr"] *= 0.1
[g["lr"] for g in opt.param_groups]
extra = nn.Parameter(torch.ones(1))
opt.add_param_group({"params": extra, "lr": 5.0})
len(opt.param_groups)
opt.add_param_group({"params": extra})
optim.SGD([{"params": net[0].weight}, {"params": net[0].weight}], lr=0.1)
optim.SGD([{"params": [net[0].weight]}])
