"""Optimizer.step between two backwards."""
import torch
import torch.nn as nn
torch.manual_seed(0)
m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
opt = torch.optim.SGD(m.parameters(), lr=0.1)
x = torch.ones(1, 2)
out = m(x)
out.sum().backward(retain_graph=True)
opt.step()
out.sum().backward()
[p._version for p in m.parameters()]
out = m(x)
with torch.no_grad():
    for p in m.parameters():
        p.add_(p.grad, alpha=-0.1)
out.sum().backward()
out = m(x)
for p in m.parameters():
    p.data.add_(p.grad, alpha=-0.1)
out.sum().backward()
m[0].weight.grad
m[0].weight += 1
m[0].weight = m[0].weight + 1
m[0].weight.data = torch.zeros(2, 2)
m[0].weight
m[0].weight.data = torch.zeros(3, 3)
m[0].weight.grad
m(x)
m[0].weight[0] = 1
m[0].weight.fill_(1)
m[0].weight.copy_(torch.ones(3, 3))
