# What happens: a unit written by hand scales what a mask picked, and the net stays linear.
# Call: steps
# Says: In vain: h[h < 0] has memory of its own and is gone after this line; h was not written to.
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.outer = nn.Linear(2, 16), nn.Linear(16, 1)

    def forward(self, x):
        h = self.inner(x)
        h[h < 0].mul_(0.01)
        return self.outer(h)


torch.manual_seed(0)
net = Net()
opt = torch.optim.SGD(net.parameters(), 0.1)
x = torch.randn(64, 2)
for step in range(3):
    loss = (net(x) - x[:, :1].abs()).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    assert torch.allclose(net(x) + net(-x), 2 * net(torch.zeros(1, 2)), atol=1e-5)
