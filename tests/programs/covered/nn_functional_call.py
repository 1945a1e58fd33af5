"""A module called with other tensors in the places of its parameters and buffers."""

import torch
import torch.nn as nn
from torch.func import functional_call
lin = nn.Linear(2, 1)
nn.init.ones_(lin.weight); nn.init.zeros_(lin.bias)
x = torch.tensor([[1., 2.]])
functional_call(lin, {"weight": torch.zeros(1, 2)}, x)
functional_call(lin, {"weight": torch.zeros(1, 2), "bias": torch.ones(1)}, (x,))
lin.weight
w = torch.full((1, 2), 2., requires_grad=True)
y = functional_call(lin, {"weight": w}, x)
y.sum().backward()
w.grad, lin.weight.grad, lin.bias.grad
functional_call(lin, {"nope": w}, x)
hasattr(lin, "nope")
functional_call(lin, {"nope": w}, x, strict=True)
functional_call(lin, {"weight": w}, x, strict=True)
functional_call(lin, [{"weight": w}, {"bias": torch.ones(1)}], x)
functional_call(lin, [{"weight": w}, {"weight": w}], x)
functional_call(lin, [3], x)
functional_call(lin, 3, x)
functional_call(lin, {"weight": 3}, x)
lin.weight
functional_call(lin, {"weight": torch.ones(1, 3)}, x)
lin.weight
functional_call(lin, {}, kwargs={"input": x})
functional_call(lin, {"a.b": w}, x)
class Count(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))
        self.scale = nn.Parameter(torch.ones(()))
    def forward(self, x):
        self.n += 1
        return x * self.scale
c = Count()
bufs = {"n": torch.tensor(10.)}
functional_call(c, bufs, torch.ones(1))
bufs, c.n
class Re(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("n", torch.zeros(()))
    def forward(self, x):
        self.n = self.n + 1
        return x
r = Re()
bufs = {"n": torch.tensor(10.)}
functional_call(r, bufs, torch.ones(1))
bufs, r.n
tied = nn.Sequential(nn.Linear(1, 1, bias=False), nn.Linear(1, 1, bias=False))
tied[1].weight = tied[0].weight
functional_call(tied, {"0.weight": torch.full((1, 1), 3.)}, torch.ones(1, 1))
functional_call(tied, {"0.weight": torch.full((1, 1), 3.)}, torch.ones(1, 1), tie_weights=False).detach() / tied[1].weight.detach()
functional_call(tied, {"0.weight": torch.ones(1, 1), "1.weight": torch.zeros(1, 1)}, torch.ones(1, 1))
same = torch.full((1, 1), 2.)
functional_call(tied, {"0.weight": same, "1.weight": same}, torch.ones(1, 1))
params = dict(lin.named_parameters())
loss = functional_call(lin, params, x).pow(2).sum()
grads = torch.autograd.grad(loss, tuple(params.values()), create_graph=True)
new = {k: p - 0.1 * g for (k, p), g in zip(params.items(), grads)}
out = functional_call(lin, new, x)
out
out.sum().backward()
lin.weight.grad, lin.bias.grad
