"""Functions that torch has outside of nn.functional too, and the versions of comparisons."""

import torch
a = torch.tensor([1., 2., float("nan"), float("inf")]); b = torch.tensor([1., 2.1, float("nan"), float("inf")])
torch.isclose(a, b)._version
torch.isclose(a, b, equal_nan=True)._version
torch.isclose(a, b, rtol=0, atol=0)._version
i = torch.tensor([1, 2])
torch.isclose(i, i)._version
torch.isclose(i, i, rtol=0., atol=0.)._version
torch.eq(a, b)._version
torch.isfinite(a)._version, torch.isinf(a)._version, torch.isnan(a)._version, torch.isposinf(a)._version, torch.isreal(a)._version
torch.isin(i, i)._version
torch.logical_not(a)._version
torch.signbit(a)._version
torch.cosine_similarity(a[:2], b[:2], dim=0)
torch.cosine_similarity(torch.ones(2, 3), torch.ones(2, 3))
x = torch.ones(2, 3, requires_grad=True)
c = torch.cosine_similarity(x, torch.rand(2, 3))
c.grad_fn
torch.pairwise_distance(x, torch.zeros(2, 3))
with torch.inference_mode():
    torch.isclose(a, b)
torch.selu(x.detach() * torch.tensor([-1., 0., 2.]))
torch.celu(x.detach() * -2)
torch.threshold(x.detach() * torch.tensor([-1., 0., 2.]), 0.5, 7.)
torch.layer_norm(torch.tensor([[1., 2., 3.]]), (3,))
torch.dropout(x, 0.5, False)
torch.prelu(x.detach() * -1, torch.tensor([0.25]))
torch.hardshrink(x.detach() * 0.3)
from torch import cosine_similarity
