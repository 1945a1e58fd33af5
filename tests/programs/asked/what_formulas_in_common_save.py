"""What the nodes of normalisations, products and selections save, whoever needs the gradient."""

import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
def saved(t):
    f = t.grad_fn
    for n in sorted(dir(f)):
        if n.startswith("_saved"):
            try: print(n, getattr(f, n))
            except Exception as e: print(n, type(e).__name__, e)
x = torch.rand(2, 3)
xr = torch.rand(2, 3, requires_grad=True)
w = torch.rand(3, requires_grad=True)
b = torch.rand(3, requires_grad=True)
rm, rv = torch.zeros(3), torch.ones(3)
saved(F.linear(x, torch.rand(2, 3, requires_grad=True), torch.rand(2, requires_grad=True)))
saved(F.linear(xr, torch.rand(2, 3), torch.rand(2, requires_grad=True)))
saved(torch.addmm(torch.rand(2, requires_grad=True), x, torch.rand(3, 2)))
saved(torch.addmm(torch.rand(2, requires_grad=True), x, torch.rand(3, 2, requires_grad=True)))
saved(torch.where(x > 0.5, xr, x))
saved(torch.lerp(x, xr, 0.5))
saved(torch.lerp(x, xr, w))
saved(torch.addcmul(x, xr, x))
saved(torch.addcdiv(xr, x, x + 1))
saved(torch.addcdiv(x, x, xr))
saved(torch.atan2(x, xr))
saved(torch.maximum(x, xr))
saved(F.mse_loss(x, xr))
saved(F.nll_loss(F.log_softmax(xr, 1), torch.tensor([0, 2])))
saved(xr.index_put((torch.tensor([0]),), torch.rand(3)))
saved(x.index_put((torch.tensor([0]),), w))
saved(x.scatter(1, torch.tensor([[0], [1]]), xr))
saved(x.masked_scatter(x > 0.5, xr))
saved(x.masked_fill(x > 0.5, w.sum()))
saved(xr.index_copy(0, torch.tensor([0]), torch.rand(1, 3)))
saved(x.index_add(0, torch.tensor([0]), xr[:1], alpha=2))
