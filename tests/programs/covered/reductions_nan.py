"""Reductions, sorting and comparing with nan."""
import torch

n = float("nan")
x = torch.tensor([1., n, 3.])
x.sum(), x.mean(), x.max(), x.min(), x.argmax(), x.max(0), x.median(), x.sort(), x.topk(2), x.amax(), x.prod(), x.cumsum(0), x.std(), x.norm()
x.nan_to_num(), x.nan_to_num(5), torch.tensor([float("inf"), -float("inf")]).nan_to_num(posinf=1, neginf=2), torch.tensor([n]).nan_to_num_(nan=3.)
x.clamp(0, 2), x.relu(), torch.maximum(x, torch.zeros(3)), x.sign(), x > 0, x == x, x.isnan(), bool(torch.tensor(n)), x.any(), x.bool()
