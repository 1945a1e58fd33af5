# What happens: a penalty on the gates is added up with .item(), and pulls at nothing.
# Call: check_gradients(step, net)
# Says: net.0.weight: made a number, which has no history (.item(), float(), .tolist()), in penalty_made_a_number.py:14
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
x, y = torch.randn(16, 4), torch.randn(16, 1)


def penalty():
    total = 0.0
    for layer in (net[0],):
        total += layer.weight.square().sum().item()
    return total


def step():
    return (net(x) - y).square().mean() + 0.1 * penalty()


step().backward()
fit = torch.autograd.grad((net(x) - y).square().mean(), net[0].weight)[0]
assert net[0].weight.grad.equal(fit)
