"""A function or a class where a module is wanted."""

import torch
import torch.nn as nn
import torch.nn.functional as F
nn.Sequential(torch.relu)
nn.Sequential(nn.Linear(1, 1), F.relu)
nn.Sequential(nn.ReLU)
nn.Sequential([nn.ReLU()])
nn.Sequential(lambda x: x)
nn.ModuleList([torch.tanh])
m = nn.Module()
m.add_module("f", F.relu)
nn.ModuleDict({"a": torch.sin})
torch.optim.SGD([F.relu], lr=0.1)
