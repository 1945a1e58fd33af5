"""Optimisers and schedulers with odd options: parameters given twice, rates as tensors, functions that are none."""
import torch
from torch.optim import lr_scheduler
p = torch.tensor([1.0, -2.0], requires_grad=True)
o = torch.optim.Adam([p, p])
p.pow(2).sum().backward()
o.step()
o.state_dict()
o = torch.optim.SGD([p], lr=torch.tensor([0.1]))
o.step()
p
torch.optim.SGD([p], lr=torch.tensor([0.1, 0.2]))
o = torch.optim.Adam([p], capturable=True)
o.step()
o = torch.optim.SGD([p], lr=0.1)
lr_scheduler.MultiplicativeLR(o, 2)
lr_scheduler.LambdaLR(o)
s = lr_scheduler.LambdaLR(o, lambda e: 0.5 ** e)
s.load_state_dict({"last_epoch": 1})
s.last_epoch
lr_scheduler.LinearLR(o, "a")
lr_scheduler.ConstantLR(o, [1])
lr_scheduler.ReduceLROnPlateau(o, 2)
