"""masked_fill, masked_select, masked_scatter, where and nonzero."""
import torch

x = torch.arange(6.).view(2, 3)
m = x > 2
x.masked_select(m), torch.masked_select(x, m[0])
x.masked_fill(m, -1), x.masked_fill(m, torch.tensor(7))
x.masked_fill(m, torch.tensor([1., 2.]))
x.masked_fill(m.long(), 0)
x.masked_fill(m, 2.5), x.long().masked_fill(m, 2.5)
x.masked_fill(torch.tensor([True, False]), 1)
x.masked_scatter(m, torch.tensor([10., 20., 30., 40.]))
x.masked_scatter_(m, torch.tensor([10.]))
x.masked_scatter(m, torch.tensor([1, 2, 3]))
x.masked_select(m.byte())
torch.masked_select(x, torch.ones(2, 2, 3, dtype=torch.bool)).shape
w = torch.ones(3, requires_grad=True)
w.masked_select(torch.tensor([True, False, True])).sum().backward()
w.grad
torch.where(m, x, 0), torch.where(m, 1, 0), torch.where(m, 1., 0).dtype, torch.where(m, x, torch.zeros(1, dtype=torch.double)).dtype
torch.where(m)
torch.where(m.long(), x, x)
torch.where(x, x, x)
torch.where(m, x)
torch.where(m, torch.ones(4), x)
x.where(m, -5.)
torch.nonzero(m), torch.nonzero(m, as_tuple=True), m.nonzero().shape, torch.tensor(3).nonzero(), torch.tensor(0).nonzero()
torch.count_nonzero(x), torch.count_nonzero(x, dim=1), torch.nonzero(torch.tensor(1), as_tuple=True)
torch.zeros(0, 3).nonzero().shape, torch.nonzero(torch.zeros(2))
