"""The numbers of dropout and of every initialiser, in a row, and what they refuse."""

import torch
import torch.nn as nn
import torch.nn.functional as F
for seed in (0, 1, 42):
    torch.manual_seed(seed)
    print(F.dropout(torch.ones(5), 0.5), F.dropout(torch.ones(20), 0.3).sum(), torch.rand(1))
torch.manual_seed(0)
d = nn.Dropout(0.5)
x = torch.ones(2, 4, requires_grad=True)
y = d(x)
y
y.grad_fn
y.sum().backward(); x.grad
d.eval()
d(x) is x
d.train()
d.p = 0.
d(x) is x
d.p = 1.
d(x)
d(x).sum().backward()
F.dropout(x, 0.5, True, True)
z = x * 1
F.dropout(z, 0.5, True, True) is z
z.grad_fn
F.dropout(torch.ones(3), 0.5, inplace=True)
F.dropout(torch.ones(2, 2).t(), 0.5).stride()
F.dropout(torch.ones(4)[::2], 0.5)
F.dropout(torch.ones(0), 0.5)
F.dropout(torch.ones(3), -0.1)
F.dropout(torch.ones(3), 1.1)
F.dropout(torch.ones(3), "a")
F.dropout([1.], 0.5)
torch.manual_seed(5)
torch.rand(3)
F.dropout(torch.ones(3).double(), 0.5)
torch.randn(2)
nn.init.xavier_uniform_(torch.empty(2, 3))
torch.nn.init.normal_(torch.empty(3), 2, 0.5)
torch.manual_seed(5)
net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.2), nn.ReLU(), nn.Linear(4, 2))
net(torch.ones(1, 3))
net(torch.ones(1, 3))
net.eval()(torch.ones(1, 3)).equal(net(torch.ones(1, 3)))
[m.training for m in net.modules()]
net.train(); net[1].eval(); [m.training for m in net.modules()]
torch.manual_seed(9)
g = torch.Generator().manual_seed(9)
nn.init.kaiming_uniform_(torch.empty(2, 2), generator=g).equal(nn.init.kaiming_uniform_(torch.empty(2, 2)))
nn.init.constant_(torch.empty(2, dtype=torch.int64), 3)
nn.init.uniform_(torch.empty(2), 5, 1)
nn.init.normal_(torch.empty(2), 0, -1)
nn.init.kaiming_normal_(torch.empty(2, 3), a=0.2, mode="fan_out", nonlinearity="leaky_relu")
nn.init.calculate_gain("linear"), nn.init.calculate_gain("relu"), nn.init.calculate_gain("leaky_relu"), nn.init.calculate_gain("sigmoid")
nn.init.calculate_gain("leaky_relu", True)
nn.init.xavier_uniform_(nn.Linear(2, 2))
nn.init.ones_(3)
w = torch.ones(2, requires_grad=True)
nn.init.zeros_(w), w.requires_grad, w._version, w.grad_fn
nn.init.ones_(w * 2).grad_fn
nn.init.uniform_(w[:1]).grad_fn
w
