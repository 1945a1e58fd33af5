"""Freezing part of a network and stepping by hand."""
import torch

from torch import nn
g = torch.manual_seed(0)
m = nn.Sequential(nn.Linear(1, 1), nn.Linear(1, 1))
for p in m[0].parameters():
    p.requires_grad = False

m(torch.ones(1)).sum().backward()
[(n, p.grad is None) for n, p in m.named_parameters()]
o = torch.optim.SGD([p for p in m.parameters() if p.requires_grad], lr=0.5)
before = m[0].weight.clone()
o.step()
torch.equal(before, m[0].weight)
with torch.no_grad():
    for p in m.parameters():
        p -= 0.1 * (p.grad if p.grad is not None else 0)

m[1].weight._version, m[0].weight._version
m[1].weight.grad.data.zero_()
m.zero_grad()
m[1].weight.grad is None
m[0].weight -= 1
m[1].weight -= 1
