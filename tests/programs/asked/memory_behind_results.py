"""Rotations out of range, strides of nonzero into a tensor, and the memory behind what unique_consecutive finds."""

import torch
d = torch.arange(4).reshape(2, 2)
d.rot90(1, [0, 2])
d.rot90(1, [0, -3])
d.rot90(1, [1, 1])
d.rot90(1, [0, -2])
d.rot90(1, [-1, 1])
d.rot90(1, [5, 5])
d.rot90(1, [0])
torch.ones(3).rot90()
torch.ones(2, 2, 2).rot90(1, [0, 3])
t = torch.tensor([1., 0., 2., 3.])
o = torch.empty([], dtype=torch.long)
torch.nonzero(t, out=o).stride()
o = torch.empty(0, dtype=torch.long)
torch.nonzero(t, out=o).stride()
o = torch.empty(3, 1, dtype=torch.long)
torch.nonzero(t, out=o).stride()
o = torch.empty(5, 5, dtype=torch.long)
torch.nonzero(t, out=o).stride()
torch.nonzero(t).stride()
o = torch.empty(0, dtype=torch.long)
torch.nonzero(t.reshape(2, 2), out=o).stride()
torch.nonzero(t.reshape(2, 2)).stride()
torch.nonzero(torch.tensor(1.)).stride()
torch.nonzero(torch.zeros(3)).stride()
o = torch.empty(0, dtype=torch.long)
torch.nonzero(torch.zeros(3), out=o).stride()
o = torch.empty(0, dtype=torch.long)
torch.nonzero(torch.tensor([1.]), out=o).stride()
x = torch.tensor([1, 1, 2, 2, 3, 1, 1, 2])
u = torch.unique_consecutive(x)
u, u.untyped_storage().nbytes(), u.stride()
u = torch.unique_consecutive(x, return_inverse=True, return_counts=True)
u
[k.untyped_storage().nbytes() for k in u]
[k._version for k in u]
u = torch.unique(x, return_inverse=True, return_counts=True)
[k.untyped_storage().nbytes() for k in u]
u = torch.unique_consecutive(x.reshape(4, 2), dim=0, return_inverse=True, return_counts=True)
u
[k.untyped_storage().nbytes() for k in u]
u = torch.unique(x.reshape(4, 2), dim=0, return_inverse=True, return_counts=True)
[k.untyped_storage().nbytes() for k in u]
torch.unique_consecutive(x[:0]).untyped_storage().nbytes()
torch.masked_select(x, x > 1).untyped_storage().nbytes()
x[x > 1].untyped_storage().nbytes()
torch.topk(x, 2).values.untyped_storage().nbytes()
torch.median(x).untyped_storage().nbytes()
torch.kthvalue(x, 2).values.untyped_storage().nbytes()
torch.bincount(x).untyped_storage().nbytes()
x.float().mean().untyped_storage().nbytes(), x.float().std().untyped_storage().nbytes(), x.float().norm().untyped_storage().nbytes()
