"""Layers in half and double precision, on batches of several dimensions; losses by hand."""

import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
h = nn.Linear(2, 2).half()
h(torch.ones(1, 2))
h(torch.ones(1, 2).half())
h(torch.ones(1, 2).half()).sum().backward()
h.weight.grad
nn.MSELoss()(torch.ones(2).half(), torch.zeros(2).half())
F.cross_entropy(torch.ones(1, 2).half(), torch.tensor([0]))
F.softmax(torch.tensor([1, 2]).half(), 0)
d = nn.Linear(2, 2).double()
d(torch.ones(1, 2))
d(torch.ones(1, 2).double())
F.cross_entropy(torch.ones(1, 2).double(), torch.tensor([0]))
F.mse_loss(d(torch.ones(1, 2).double()), torch.zeros(1, 2))
F.mse_loss(d(torch.ones(1, 2).double()), torch.zeros(1, 2)).backward()
d.weight.grad.dtype
F.relu(torch.tensor([-1, 2], dtype=torch.int32))
F.dropout(torch.tensor([1, 2]), 0.5)
nn.Dropout(0.5)(torch.ones(3).half())
nn.Dropout(0.5)(torch.ones(3).double())
torch.set_default_dtype(torch.float64)
nn.Linear(1, 2).weight
torch.manual_seed(0)
nn.Linear(2, 2).weight
torch.set_default_dtype(torch.float32)
x = torch.randn(2, 3, 4)
nn.Linear(4, 2)(x).shape
nn.Linear(4, 2)(x).grad_fn
nn.Linear(4, 2, bias=False)(x).grad_fn
nn.Linear(4, 2)(x[0]).grad_fn
nn.Linear(4, 2)(x[0, 0]).grad_fn
nn.Linear(4, 2, bias=False)(x[0]).grad_fn
nn.Linear(4, 2, bias=False)(x[0, 0]).grad_fn
nn.Linear(4, 2)(x.transpose(0, 1)).grad_fn
nn.Linear(4, 2)(x[:0]).shape
nn.Linear(4, 0)(x).shape
F.linear(x, torch.ones(4))
F.linear(x[0], torch.ones(2, 4), torch.ones(3))
F.linear(x[0], torch.ones(2, 4), torch.ones(2, 1))
F.linear(torch.ones(3, 4), torch.ones(2, 4), torch.ones(3, 2))
l = nn.Linear(4, 2)
y = l(x[0])
y.grad_fn.name(), [f[0].name() if f[0] else None for f in y.grad_fn.next_functions]
y.grad_fn._saved_mat1 is None, y.grad_fn._saved_mat2.shape
l.weight.requires_grad_(False)
y = l(x[0])
[f[0].name() if f[0] else None for f in y.grad_fn.next_functions]
z = nn.Linear(4, 2)(x)
z.grad_fn.next_functions[0][0].name()
z.sum().backward()
ident = nn.Identity()
ident(x) is x
nn.Flatten()(x).grad_fn, nn.Flatten()(x)._base is None
f = nn.Flatten()(x)
f._is_view()
s = nn.Softmax(dim=1)(x)
s.sum(1)
F.log_softmax(x, dim=-1).exp().sum(-1)
t = torch.tensor([[0.2, 0.8], [0.6, 0.4]], requires_grad=True)
nn.NLLLoss()(t.log(), torch.tensor([1, 0])).backward()
t.grad
torch.argmax(F.softmax(x, -1), -1)
(F.softmax(x[0], -1).argmax(-1) == torch.tensor([0, 1, 2])).float().mean()
F.mse_loss(x[0], x[1], reduction="none").mean(1)
F.l1_loss(x[0], x[1]).backward()
torch.sigmoid(x[0]).log().neg().mean()
F.binary_cross_entropy_with_logits(x[0], torch.ones(3, 4))
F.cross_entropy(x, torch.zeros(2, 4, dtype=torch.long))
F.cross_entropy(x, torch.zeros(2, 3, dtype=torch.long))
F.cross_entropy(x.transpose(1, 2), torch.zeros(2, 3, dtype=torch.long), reduction="none")
F.nll_loss(F.log_softmax(x[0], 1), torch.tensor([0, 3, -100]), reduction="sum")
class Block(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.ff = nn.Sequential(nn.Linear(n, 2 * n), nn.Tanh(), nn.Linear(2 * n, n))
        self.scale = nn.Parameter(torch.ones(()))
    def forward(self, x):
        return x + self.scale * self.ff(x)
b = Block(4)
b
sum(p.numel() for p in b.parameters())
b(x).shape
b(x).sum().backward()
b.scale.grad.shape
[n for n, _ in b.named_parameters()]
