"""Weight surgery."""
import torch
import torch.nn as nn
l = nn.Linear(2, 2)
l.weight.data = torch.tensor([[1., 2.], [3., 4.]])
l.bias.data.zero_()
l(torch.ones(1, 2))
l.weight = torch.ones(2, 2)
l.weight = nn.Parameter(torch.ones(2, 2))
with torch.no_grad():
    l.weight[0, 0] = 5
    l.weight *= 2
    l.bias.copy_(torch.tensor([1., -1.]))
l.weight, l.bias
l.weight.data[1] = 0
l.weight
l.weight[1] = 1
l.state_dict()["weight"][0, 1] = 77
l.weight
l.weight.data.copy_(torch.ones(3, 2))
l.weight.set_(torch.zeros(2, 2))
l.load_state_dict({"weight": torch.zeros(2, 2), "bias": torch.zeros(2)})
l.weight
l.bias = None
l
l(torch.ones(1, 2))
del l.weight
l(torch.ones(1, 2))
nn.Linear(2, 3).weight.T.shape
torch.nn.functional.linear(torch.ones(1, 2), torch.ones(3, 2), torch.ones(3))
m = nn.Linear(2, 2)
m.weight.requires_grad = False
m.weight.fill_(0.5)
m.bias.requires_grad_(False).zero_()
m(torch.ones(1, 2))
