"""Out argument."""
import torch
a = torch.ones(3)
out = torch.empty(3)
torch.add(a, 1, out=out)
out
torch.mul(a, 2, out=a)
a
torch.add(a, 1, out=torch.empty(2))
torch.add(a, 1, out=torch.empty(0))
o = torch.empty(3, dtype=torch.int64)
torch.add(a, 1.5, out=o)
o = torch.empty(3, dtype=torch.float64)
torch.add(a, 1.5, out=o)
w = torch.ones(3, requires_grad=True)
torch.add(w, 1, out=out)
torch.add(a, 1, out=w)
with torch.no_grad():
    torch.add(w, 1, out=out)
torch.cat([a, a], out=torch.empty(6))
torch.matmul(torch.eye(3), a, out=out)
torch.sum(a, dim=0, out=torch.empty(()))
v, i = torch.max(torch.tensor([[1., 5.]]), 1, out=(torch.empty(0), torch.empty(0, dtype=torch.long)))
v, i
torch.stack([a, a], out=torch.empty(2, 3))
torch.arange(3, out=torch.empty(0))
torch.zeros(2, out=out)
torch.exp(a, out=out)
torch.sort(torch.tensor([2., 1.]), out=(torch.empty(2), torch.empty(2, dtype=torch.long)))
torch.add(a, 1, out=[1])
torch.add(a, 1, out=out) is out
