"""Linear: numbers, printing, and shapes it refuses."""
import torch

from torch import nn
g = torch.manual_seed(0)
l = nn.Linear(3, 2)
l
l.weight, l.bias
l(torch.ones(1, 3)), l(torch.ones(3)), l(torch.ones(2, 4, 3)).shape
l(torch.ones(2, 2))
l(torch.ones(2))
l(torch.ones(3).double())
l(torch.ones(3).long())
nn.Linear(2, 2, bias=False), nn.Linear(2, 1, bias=False).bias
l.double().weight.dtype
l.extra_repr(), l.in_features, l.training
list(l.named_parameters())[0][0], [p.shape for p in l.parameters()]
l.requires_grad_(False).weight.requires_grad
nn.Linear(2, 0)
nn.Linear(0, 2)
nn.Linear("a", 2)
nn.Linear(2)
l.weight = torch.ones(2, 3)
l.weight = nn.Parameter(torch.ones(2, 3))
l.weight = None
l.foo
l.bias.grad
