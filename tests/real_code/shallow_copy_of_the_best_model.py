# What happens: copy.copy of a module has the same parameters.
# Reported: zhangj111/astnn#8
# Call: shared(best, net)
# Says: best and net
import copy

import torch

net = torch.nn.Linear(3, 1)
best = copy.copy(net)
with torch.no_grad():
    net.weight.zero_()
assert not best.weight.any()
