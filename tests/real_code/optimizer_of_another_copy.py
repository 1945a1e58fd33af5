# What happens: a network and its optimizer are deep-copied one after the other; the second optimizer steps nobody's weights.
# Reported: skorch-dev/skorch#317
# Call: watch
# Says: had no gradient at any of the 3 steps of second_opt
import copy

import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
second = copy.deepcopy(net)
second_opt = copy.deepcopy(opt)
for _ in range(3):
    second_opt.zero_grad()
    second(torch.randn(2, 3)).sum().backward()
    second_opt.step()
assert second.weight.equal(net.weight)
