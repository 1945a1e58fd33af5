"""Reductions, sorting and comparing with nan."""
import torch

n = float("nan")
x = torch.tensor([1., n, 3.])
x.sum(), x.nansum(), x.mean(), x.nanmean(), x.max(), x.min(), x.argmax(), x.max(0), x.median(), x.nanmedian(), x.sort(), x.topk(2), x.unique(), x.amax(), x.prod(), x.cumsum(0), x.cummax(0), x.std(), x.norm()
x.nan_to_num(), x.nan_to_num(5), torch.tensor([float("inf"), -float("inf")]).nan_to_num(posinf=1, neginf=2), torch.tensor([n]).nan_to_num_(nan=3.)
x.clamp(0, 2), x.relu(), torch.maximum(x, torch.zeros(3)), torch.fmin(x, torch.zeros(3)), x.sign(), x > 0, x == x, x.isnan(), bool(torch.tensor(n)), x.any(), x.bool(), x.aminmax()
torch.nanmean(torch.tensor([1, 2]))
torch.nansum(torch.tensor([1, 2]))
w = torch.tensor([1., n, 3.], requires_grad=True)
w.nansum().backward()
w.grad
w.grad = None
w.nanmean().backward()
w.grad
torch.histc(torch.tensor([1., 2., 1.]), bins=4, min=0, max=3)
