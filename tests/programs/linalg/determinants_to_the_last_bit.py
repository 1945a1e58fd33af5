"""Determinants come from one decomposition, of the transposed matrix; an inverse of 2 by 2 from the matrix itself."""

import torch

a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
a.det()
a.t().det()
a.det().item(), a.t().det().item(), a.double().det().item()
a.inverse().tolist()
torch.slogdet(a)
torch.manual_seed(0)
[torch.randn(n, n).det().item() for n in (1, 2, 3, 4, 5, 8)]
[torch.rand(n, n, dtype=torch.double).slogdet()[1].item() for n in (2, 3, 5, 9)]
a.requires_grad_().det()
a.det().grad_fn._saved_LU, a.det().grad_fn._saved_pivots
a.det().backward()
a.grad
torch.svd(a[0])
torch.logit(torch.tensor([0, 1]), 1)
