"""Tensors as Python numbers, lists, conditions and indices."""

import math
import numpy as np
import torch
a=torch.arange(6.).view(2,3)
v=a[0]
r=torch.ones(3,requires_grad=True)
i=torch.arange(3)
r.numpy()
r.numpy(force=True)
list(reversed(v))
reversed(a)
1. in v
7 in v
'a' in v
[1,2,3][torch.tensor(1)]
[1,2,3][torch.tensor(1.)]
[1,2,3][torch.tensor([1])]
range(torch.tensor(3))
list(range(10))[torch.tensor(2):torch.tensor(4)]
'a'*torch.tensor(3)
[0]*torch.tensor(2)
v.item()
torch.tensor([]).item()
torch.tensor([[3]]).item()
torch.tensor(True).item()
r.sum().item()
torch.tensor(2.5).half().item()
v.tolist()
a.tolist()
torch.tensor(3).tolist()
r.tolist()
torch.tensor([True]).tolist()
int(torch.tensor(3.7))
float(torch.tensor(3))
float(v)
int(torch.tensor([2]))
bool(torch.tensor([]))
bool(v)
bool(torch.tensor([0]))
len(torch.tensor(3))
len(a)
iter(torch.tensor(3))
next(iter(a))
if_=1 if torch.tensor(1) else 0
round(torch.tensor(2.567),1)
round(torch.tensor(2.5))
abs(torch.tensor(-2))
divmod(torch.tensor(7),3)
math.floor(torch.tensor(2.5)), math.ceil(torch.tensor(2.5)), math.trunc(torch.tensor(2.5))
math.sqrt(torch.tensor(4.))
r.apply_(lambda z:z)
