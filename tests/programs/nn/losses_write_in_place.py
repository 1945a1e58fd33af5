"""The gradients of binary cross entropies are made in place, which their versions show, unless they are recorded."""

import torch
import torch.nn.functional as F


def show(*leaves):
    print([(t.grad, t.grad._version) for t in leaves])
    for t in leaves:
        t.grad = None


p = torch.tensor([0.25, 0.5], requires_grad=True)
y = torch.tensor([0.5, 0.75], requires_grad=True)
for reduction in ["mean", "sum"]:
    for weight in [None, torch.tensor([1.0, 2.0])]:
        F.binary_cross_entropy(p, y, weight, reduction=reduction).backward()
        show(p, y)
        for pos_weight in [None, torch.tensor([3.0])]:
            F.binary_cross_entropy_with_logits(p, y, weight, reduction=reduction, pos_weight=pos_weight).backward()
            show(p, y)
gp, gy = torch.autograd.grad(F.binary_cross_entropy_with_logits(p, y), (p, y), create_graph=True)
gp, gp._version, gy, gy._version

# zeros for who has no part in the result
a, b = torch.tensor([1.0, -2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
for made in [torch.atan2(a, b), torch.normal(a, b.detach())]:
    print(made.grad_fn.name(), [g._version for g in (made.grad_fn(torch.ones(2)),) for g in (g if isinstance(g, tuple) else (g,))])
torch.atan2(a, b.detach()).grad_fn(torch.ones(2))
