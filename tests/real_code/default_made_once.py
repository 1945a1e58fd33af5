# What happens: a default argument is one tensor for all layers, and they train one scale.
# Call: shared(net)
# Says: net.0.gamma and net.1.gamma see the same 3 cells.
import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, init=torch.ones(3)):
        super().__init__()
        self.gamma = nn.Parameter(init)

    def forward(self, x):
        return x * self.gamma


net = nn.Sequential(Scale(), Scale())
net[0].gamma.data.mul_(2)
assert net[1].gamma[0] == 2
