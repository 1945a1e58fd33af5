# What happens: a head is replaced after the optimizer was made, which goes on stepping the old one.
# Call: steps
# Says: opt still holds the former net.head.weight and net.head.bias.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(4, 8), nn.Linear(8, 10)

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
net.head = nn.Linear(8, 1)
data, target = torch.randn(32, 4), torch.randn(32, 1)
for epoch in range(3):
    loss = (net(data) - target).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
