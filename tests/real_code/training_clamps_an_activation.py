# What happens: a training loop clamps an activation through .data after a layer saved it.
# Call: watch
# Says: scaled.clamp_(-0.5, 0.5)
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), 0.1)
data, target = torch.randn(32, 4), torch.randn(32, 1)
for epoch in range(3):
    hidden = net[1](net[0](data))
    scaled = hidden.data
    scaled.clamp_(-0.5, 0.5)
    loss = (net[2](hidden) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
