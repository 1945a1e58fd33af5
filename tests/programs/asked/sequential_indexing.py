"""Sequential indexing."""
import torch
from collections import OrderedDict
import torch.nn as nn
torch.manual_seed(0)
s = nn.Sequential(OrderedDict([("fc1", nn.Linear(2, 3)), ("relu", nn.ReLU()), ("fc2", nn.Linear(3, 1))]))
s
s.fc1
s[0] is s.fc1
s[-1]
s[:2]
s[3]
len(s)
list(s.children())
s[1] = nn.Sigmoid()
s
s.add_module("out", nn.Tanh())
s
del s[0]
s
s.append(nn.ReLU())
nn.Sequential(*list(s.children())[:-1])
nn.Sequential(nn.Linear(2, 2), nn.ReLU())(torch.ones(1, 3))
x = torch.ones(1, 3)
for layer in s:
    x = layer(x)
    print(type(layer).__name__, x.shape)
list(s._modules)
s.fc2.weight
[k for k in s.state_dict()]
