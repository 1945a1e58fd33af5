# What happens: the target network of a training is the network itself.
# Call: steps
# Says: frozen has the same 4 tensor objects as online
import torch
from torch import nn

torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
frozen = online
opt = torch.optim.SGD(online.parameters(), 0.1)
states, rewards = torch.randn(32, 4), torch.randn(32)
for epoch in range(3):
    with torch.no_grad():
        goal = rewards + 0.9 * frozen(states).max(1).values
    loss = (online(states).max(1).values - goal).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
