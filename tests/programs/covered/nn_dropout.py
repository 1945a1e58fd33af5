"""Dropout's numbers, gradients and arguments."""
import torch

import torch.nn.functional as F
from torch import nn
g = torch.manual_seed(0)
x = torch.ones(2, 5, requires_grad=True)
F.dropout(x), F.dropout(x, 0.2), F.dropout(x, training=False) is x, F.dropout(x, 0.), F.dropout(x, 1.)
F.dropout(x, 1.5)
F.dropout(x, -0.1)
nn.Dropout(2)
d = nn.Dropout(0.5)
y = d(x)
y
y.sum().backward()
x.grad
d.eval()(x) is x
d.train()
z = torch.ones(4)
F.dropout(z, 0.5, inplace=True), z
F.dropout(torch.ones(3, dtype=torch.long))
F.dropout(torch.ones(17))
F.dropout(torch.ones(3, dtype=torch.float64), 0.3)
nn.Dropout(0.25, inplace=True)
