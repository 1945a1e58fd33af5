"""Masking."""
import torch
x = torch.tensor([[1., -2., 3.], [-4., 5., -6.]])
mask = x > 0
mask
x[mask]
x[~mask] = 0
x
x.masked_fill(mask, -1)
torch.masked_select(x, mask)
x.masked_fill_(x == 0, float("-inf"))
torch.softmax(x, dim=1)
x[x == float("-inf")] = 9
x
(x > 1) & (x < 6)
(x > 1) and (x < 6)
(x > 1) | (x == 1)
not x
x[mask] = torch.tensor([1., 2.])
x[mask].shape
x[torch.tensor([True, False])]
x[torch.tensor([True, False, True])]
mask.sum(), mask.any(), mask.all()
mask.float().mean()
mask.mean()
mask.nonzero()
torch.nonzero(mask, as_tuple=True)
torch.where(mask)
torch.where(mask, x, torch.zeros_like(x))
torch.where(mask, x, 0.)
torch.where(x > 2, 1, 0)
torch.where(x > 2, 1., 0)
if x > 2:
    pass
bool(torch.tensor([1])), bool(torch.tensor([]))
bool(torch.ones(2))
mask = torch.tensor([1, 0, 1], dtype=torch.uint8)
torch.arange(3)[mask]
x[:, mask.bool()]
x[x > 100]
