"""Parameter traps."""
import torch
import torch.nn as nn
p = nn.Parameter(torch.tensor([1., 2.]))
p
p * 2
p.data, p.grad
p.requires_grad
q = p.clone()
q
type(q), type(p.detach()), type(p.data)
nn.Parameter(p) is p
p.is_leaf
p.add_(1)
with torch.no_grad():
    p.add_(1)
p
p.data = torch.tensor([5.])
p
p.copy_(torch.tensor([6.]))
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.zeros(1))
        self.b = torch.zeros(1, requires_grad=True)
        self.c = nn.Parameter(torch.zeros(1)) + 1
        self.d = [nn.Parameter(torch.zeros(1))]
        self.e = nn.Parameter(torch.zeros(1)).double()
m = M()
[n for n, _ in m.named_parameters()]
m.c
m.a = None
[n for n, _ in m.named_parameters()]
m.a = torch.ones(1)
m.b = nn.Parameter(torch.ones(1))
[n for n, _ in m.named_parameters()]
del m.b
m.b
m.register_parameter("z", nn.Parameter(torch.ones(2)))
m.z
list(m.parameters())
m.z.data.fill_(9)
m.state_dict()
nn.Parameter([1., 2.])
nn.Parameter(torch.ones(2) * torch.ones(2, requires_grad=True))
nn.Parameter()
torch.nn.parameter.Parameter is nn.Parameter
x = torch.ones(1, requires_grad=True)
w = nn.Parameter(x)
w.data_ptr() == x.data_ptr()
(w * 2).backward()
x.grad, w.grad
