# What happens: a prompt is wrapped as a parameter in each forward, and its table learns nothing.
# Call: watch
# Says: net.table.weight: nn.Parameter made a new leaf of the values, without a history, in parameter_made_in_forward.py:
import torch
from torch import nn


class Prompted(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.body, self.head = nn.Embedding(4, 3), nn.Linear(3, 3), nn.Linear(3, 2)

    def forward(self, x):
        prompt = nn.Parameter(self.table(torch.arange(2)))
        return self.head(torch.cat([prompt, self.body(x)]).mean(0))


torch.manual_seed(0)
net = Prompted()
opt = torch.optim.SGD(net.parameters(), 0.1)
before = net.table.weight.detach().clone()
for step in range(3):
    loss = net(torch.randn(5, 3)).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
assert net.table.weight.equal(before)
