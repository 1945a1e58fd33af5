"""Freeze layers."""
import torch
import torch.nn as nn
import torch.optim as optim
torch.manual_seed(1)
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
for p in net[0].parameters():
    p.requires_grad = False
[(n, p.requires_grad) for n, p in net.named_parameters()]
out = net(torch.ones(1, 2))
out
out.sum().backward()
net[0].weight.grad
net[2].weight.grad
opt = optim.SGD(filter(lambda p: p.requires_grad, net.parameters()), lr=0.1)
opt
before = net[0].weight.clone()
opt.step()
torch.equal(before, net[0].weight)
net[2].bias
net.requires_grad_(False)
net(torch.ones(1, 2)).sum().backward()
optim.SGD(net.parameters(), lr=0.1)
optim.SGD([], lr=0.1)
sum(p.numel() for p in net.parameters() if p.requires_grad)
sum(p.numel() for p in net.parameters())
