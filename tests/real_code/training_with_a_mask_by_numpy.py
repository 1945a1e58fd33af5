# What happens: a dropout mask is written into an activation through NumPy.
# Call: steps
# Says: cells[rng.random(cells.shape) < 0.5] = 0. The version counter did not count that
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
rng = np.random.default_rng(0)
net = nn.Linear(4, 8)
head = nn.Linear(8, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], 0.1)
data, target = torch.randn(32, 4), torch.randn(32, 1)
for epoch in range(3):
    hidden = torch.tanh(net(data))
    cells = hidden.detach().numpy()
    cells[rng.random(cells.shape) < 0.5] = 0
    loss = (head(hidden) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
