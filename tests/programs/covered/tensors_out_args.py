"""out=: resizing, converting, overlapping, refusing."""
import torch

a = torch.arange(3.)
o = torch.empty(3)
r = torch.mul(a, 2, out=o)
r is o, o, o._version
torch.mul(a, 2, out=torch.empty(2))
torch.mul(a, 2, out=torch.empty(0))
torch.sum(a, 0, out=torch.empty(1)), torch.matmul(a, a, out=torch.empty(())), torch.exp(a, out=o), torch.exp(a.long(), out=torch.empty(3)), torch.argmax(a, 0, out=torch.empty((), dtype=torch.long)), torch.cumsum(a, 0, out=o), torch.where(a > 1, a, a, out=o), torch.gather(a, 0, torch.tensor([1]), out=torch.empty(1)), torch.index_select(a, 0, torch.tensor([1]), out=torch.empty(0)), torch.nonzero(a, out=torch.empty(0, dtype=torch.long)), torch.arange(2, out=torch.empty(0)), torch.linspace(0, 1, 3, out=torch.empty(0)), torch.eye(2, out=torch.empty(0)), torch.full((2,), 3., out=torch.empty(2)), torch.rand(2, out=torch.empty(0)).shape, torch.cat([a, a], out=torch.empty(0)), torch.masked_select(a, a > 0, out=torch.empty(0)), torch.sort(a, out=(torch.empty(0), torch.empty(0, dtype=torch.long)))
torch.exp(a, out=torch.empty(3, dtype=torch.int64))
torch.argmax(a, 0, out=torch.empty(()))
torch.exp(a, out=3)
w = torch.ones(3, requires_grad=True)
torch.exp(w, out=o)
torch.exp(a, out=w)
with torch.no_grad():
    torch.exp(w, out=o)

torch.add(a, a, out=a[:2])
v = torch.zeros(6)
torch.add(a, 1, out=v[::2])
v
v._version
torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=torch.empty(3, 3)).shape
torch.add(a, 1, out=torch.zeros(1).expand(3))
torch.exp(a, out=torch.empty(3, dtype=torch.float64)), torch.eq(a, 1, out=torch.empty(3, dtype=torch.uint8))
torch.zeros(2, out=o), torch.zeros(3, 3, out=o).shape
