# What happens: the smallest weights are set to zero after each step, and the layer has no zeros.
# Call: steps
# Says: Copied: layer.weight.detach().t() cannot be viewed with shape (24,).
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 4)
opt = torch.optim.SGD(net.parameters(), 0.1)


def prune(layer, share):
    flat = layer.weight.detach().t().reshape(-1)
    smallest = flat.abs().argsort()[: int(share * flat.numel())]
    flat[smallest] = 0


for step in range(3):
    x = torch.randn(16, 6)
    loss = (net(x) - x[:, :4]).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    prune(net, 0.5)
assert (net.weight != 0).all()
