"""Topk sort."""
import torch
x = torch.tensor([3., 1., 4., 1., 5., 9., 2., 6.])
torch.topk(x, 3)
x.topk(2, largest=False)
torch.sort(x)
x.sort(descending=True)
x.argsort()
values, indices = x.view(2, 4).topk(2, dim=1)
values, indices
x.view(2, 4).sort(dim=0)
x.topk(20)
x.median()
x.view(2, 4).median(dim=1)
x.max(), x.argmax(), x.view(2, 4).max(dim=0)
torch.max(x, torch.tensor(3.))
x.view(2, 4).argmax(dim=1, keepdim=True)
x.min(0)
r = x.view(2, 4).max(1)
r.values, r.indices
r[0]
torch.tensor([]).max()
torch.tensor([]).argmax()
torch.zeros(2, 0).max(1)
x.view(2, 4).amax(1)
