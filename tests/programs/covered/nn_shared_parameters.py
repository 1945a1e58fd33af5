"""One Parameter under two names."""
import torch

from torch import nn
l = nn.Linear(2, 2)
m = nn.Sequential(l, nn.ReLU(), l)
len(list(m.parameters())), [n for n, _ in m.named_parameters()], list(m.state_dict())
[n for n, _ in m.named_parameters(remove_duplicate=False)]
a = nn.Linear(2, 2)
a.weight = l.weight
a.weight is l.weight
n = nn.Module()
n.a, n.b = l, a
[k for k, _ in n.named_parameters()]
n.a.weight.data.fill_(1)
n.b.weight
n.requires_grad_(False)
l.weight.requires_grad
list(n.buffers()), list(n.modules())[1] is l
n.zero_grad(set_to_none=False)
