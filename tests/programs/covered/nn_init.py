"""The numbers of nn.init, and what it refuses."""
import torch

from torch import nn
g = torch.manual_seed(0)
w = torch.empty(2, 3)
nn.init.uniform_(w), nn.init.normal_(w, 1, 2), nn.init.constant_(w, 0.5), nn.init.ones_(w), nn.init.zeros_(w)
nn.init.xavier_uniform_(w)
nn.init.xavier_normal_(w, gain=2)
nn.init.kaiming_uniform_(w)
nn.init.kaiming_normal_(w, mode="fan_out", nonlinearity="relu")
nn.init.kaiming_uniform_(w, a=5 ** 0.5)
nn.init.calculate_gain("relu"), nn.init.calculate_gain("leaky_relu", 0.2), nn.init.calculate_gain("tanh"), nn.init.calculate_gain("linear"), nn.init.calculate_gain("selu")
nn.init.calculate_gain("foo")
nn.init.xavier_uniform_(torch.empty(3))
nn.init.kaiming_normal_(w, mode="foo")
nn.init.kaiming_uniform_(torch.empty(0, 2))
p = nn.Parameter(torch.empty(2))
nn.init.ones_(p)
p.requires_grad, p._version
nn.init.uniform_(w, 1, 0)
nn.init.normal_(w, 0, -1)
