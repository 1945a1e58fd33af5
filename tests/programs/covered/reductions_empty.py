"""Reductions of nothing."""
import torch

e = torch.empty(0)
m = torch.empty(0, 3)
e.sum(), e.prod(), e.mean(), e.std(), e.var(), e.all(), e.any(), e.norm(), e.cumsum(0), e.sort(), e.median(), e.nanmean(), e.logsumexp(0)
e.max()
e.argmax()
e.amax()
e.min(0)
e.argmax(0)
e.mode()
e.kthvalue(1)
e.topk(1)
e.median(0)
m.sum(0), m.sum(1), m.mean(0), m.prod(0), m.all(0), m.any(1), m.std(0), m.max(1), m.argmax(1)
m.max(0)
m.amax(0)
m.argmin(0)
m.median()
m.sort(0).values.shape, m.unique(), m.cumsum(0).shape, m.cummax(0).values.shape, m.norm(dim=0), m.logsumexp(0), m.topk(0, 0).values.shape
m.flatten().shape, m.reshape(3, 0).shape, m.t() @ torch.empty(0, 2), torch.empty(2, 0) @ torch.empty(0, 2)
e.view(-1).shape, torch.empty(0, 0).view(-1)
torch.empty(2, 0).view(-1, 0)
e.item()
e.cummax(0), e.cumprod(0), e.diff(), e.trapz() if hasattr(e, "trapz") else None
torch.dot(e, e), torch.var_mean(e), torch.std_mean(torch.tensor([1.])), torch.tensor([1.]).std()
e.aminmax()
