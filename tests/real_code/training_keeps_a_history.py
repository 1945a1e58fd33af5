# What happens: a list of penalties keeps the graph of each step.
# Slow: eleven steps, and a search for what holds their results
# Call: growth(train_step)
# Says: held by the list history
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), 0.1)
data, target = torch.randn(32, 4), torch.randn(32, 1)
history = []


def train_step():
    loss = (net(data) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    history.append(loss + 0.01 * net.weight.square().sum())


for epoch in range(20):
    train_step()
