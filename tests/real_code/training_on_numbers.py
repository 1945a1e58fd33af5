# What happens: the loss of a training is made of numbers, and no layer learns.
# Call: explain(loss, net=net)
# Says: torch.tensor made a new leaf of numbers (torch.stack keeps the graph) in training_on_numbers.py:
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
data, target = torch.randn(32, 4), torch.randn(32, 2)
for epoch in range(3):
    out = net(data)
    first = (out[:, 0] - target[:, 0]).square().mean()
    second = (out[:, 1] - target[:, 1]).abs().mean()
    loss = torch.tensor([first, second], requires_grad=True).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
