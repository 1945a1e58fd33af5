"""How modules print, with every option that shows."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from collections import OrderedDict
print(nn.Linear(3, 2), nn.Linear(3, 2, bias=False))
print(nn.Sequential())
print(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
print(nn.Sequential(OrderedDict([("fc", nn.Linear(2, 3)), ("act", nn.Tanh())])))
print(nn.ReLU(), nn.ReLU(True), nn.ReLU(inplace=True))
print(nn.Dropout(), nn.Dropout(0.2), nn.Dropout(p=0.1, inplace=True))
print(nn.Identity(), nn.Identity(3, x=2))
print(nn.ModuleList([nn.Linear(2, 2) for _ in range(3)]))
print(nn.ModuleList())
print(nn.ModuleDict({"a": nn.ReLU(), "b": nn.Linear(1, 1)}))
print(nn.ModuleDict())
print(nn.ParameterList([nn.Parameter(torch.zeros(2)), nn.Parameter(torch.ones(1, 2))]))
print(nn.ParameterList([torch.zeros(2), 3, "x"]))
print(nn.ParameterDict({"w": nn.Parameter(torch.zeros(2)), "b": torch.ones(1, 2)}))
print(nn.ParameterDict())
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 3)
        self.blocks = nn.ModuleList([nn.Sequential(nn.Linear(3, 3), nn.ReLU()) for _ in range(2)])
        self.out = nn.Linear(3, 1)
        self.crit = None
        self.add_module("nothing", None)
    def extra_repr(self):
        return "scale=2"
print(Net())
class A(nn.Module):
    def extra_repr(self):
        return "a=1,\nb=2"
print(A())
class B(A):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(1, 1)
print(B())
print([m for m in Net().modules()])
print([n for n, m in Net().named_modules()])
print(dict(Net().named_children()).keys())
print(type(nn.Linear(1, 1)), type(nn.ReLU()), type(nn.MSELoss()))
print(nn.Linear)
nn.Linear(2, 3).weight.shape
nn.Linear(2, 3).bias.requires_grad
nn.Linear(0, 3)
nn.Linear(2, 3, dtype=torch.float64).weight.dtype
nn.Linear(2, 3, device="cpu").weight.device
