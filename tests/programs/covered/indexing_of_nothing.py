"""The layout of what is indexed out of tensors without elements, and integers that came to require grad."""
import torch

x = torch.ones(0, 3).t().expand(2, 3, 0)
x[[0]].stride(), x[[1, 0, 1]].stride(), x[:, [0]].stride(), x[[0, 1], [0, 1]].stride()
torch.ones(3, 2, 0).transpose(0, 1)[:, [0, 1, 2, 0]].stride()
y = torch.arange(3)
with torch.no_grad():
    z = y[2]
y.data = torch.ones(2, 3)
y.requires_grad_().is_leaf
z.requires_grad
z.sum()
torch.stack([z, z])
z * 2
w = torch.zeros(2, 3)
w.index_put((None, torch.tensor([1, 0])), torch.ones(2, 2))
