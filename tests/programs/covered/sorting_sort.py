"""sort, topk, kthvalue and mode with equal elements."""
import torch

x = torch.tensor([3, 1, 2, 3, 1])
x.sort(), x.sort(descending=True), x.sort(stable=True), x.sort(descending=True, stable=True), x.argsort(), x.argsort(descending=True, stable=True)
x.sort(1)
y = torch.tensor([[3., 1.], [2., 4.]])
y.sort(0), y.sort(1, True), torch.sort(y, dim=0, descending=True).indices
r = y.sort()
r.values, r[1], r._fields if hasattr(r, "_fields") else None, len(r)
type(r)
v, i = y.max(1)
y.max(0), y.min(1, keepdim=True), y.median(0)
x.topk(2), x.topk(3, largest=False), x.topk(0), y.topk(1, 0), x.topk(2, sorted=True).values
x.topk(6)
x.topk(-1)
x.topk(1, 2)
torch.tensor([1, 2, 2, 1]).median(), torch.tensor([4, 1, 3, 2]).median(0), torch.tensor(3).sort(), torch.tensor(3).topk(1)
torch.tensor([True, False, True]).sort(), torch.tensor([2., 1.], dtype=torch.float16).sort()
torch.max(y, 0, out=(torch.empty(0), torch.empty(0, dtype=torch.long)))
torch.sort(x, 0, out=(torch.empty(0), torch.empty(0)))
y.sort(dim=0).values.stride(), y.t().sort().values.stride(), y.t().topk(1).values.stride()
y.requires_grad_()
y.sort(descending=True).values.select(1, 0).sum().backward()
y.grad
y.sort()
