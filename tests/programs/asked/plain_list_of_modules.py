"""Parameters in a plain list are not registered."""
import torch
import torch.nn as nn
class A(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(1, 1), nn.Linear(1, 1)]
class B(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(1, 1), nn.Linear(1, 1)])
        self.w = torch.ones(1, requires_grad=True)
        self.p = nn.ParameterList([nn.Parameter(torch.ones(1)), nn.Parameter(torch.zeros(1))])
    def forward(self, x):
        for i, l in enumerate(self.layers):
            x = l(x)
        return x
len(list(A().parameters())), A()
b = B()
len(list(b.parameters()))
b
[n for n, p in b.named_parameters()]
b.layers[0], len(b.layers), b.layers[-1]
b.layers.append(nn.Linear(1, 2))
b.layers.extend([nn.ReLU()])
b.layers.insert(0, nn.Tanh())
b.layers
b.layers[5]
b.layers(torch.ones(1))
b(torch.ones(1)).shape
torch.optim.SGD(A().parameters(), lr=0.1)
for m in b.modules():
    print(type(m).__name__)
