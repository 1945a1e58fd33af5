"""Which tensors are leaves."""
import torch
c = torch.randn(2, 3, requires_grad=True)
c.is_leaf
c += 1
torch.add(c, 1, out=c)
c.add_(1)
c.index_copy_(0, torch.tensor([1]), torch.ones(1, 3))
d = c.detach()
d += 1
c.is_leaf
c[:] += 1
c.is_leaf
with torch.no_grad():
    c += 1
c.is_leaf
c._version
c.data += 1
c._version
