"""A view's shape, strides and offset, and what it is a view of."""
import torch

x = torch.arange(24.).view(2, 3, 4)
x.stride(), x.storage_offset(), x._base.shape
for v in (x[1], x[:, 1:], x[..., ::2], x[None], x.permute(2, 0, 1), x.diagonal(0, 1, 2), x.unfold(2, 2, 1), x.select(-1, 3)):
    print(tuple(v.shape), v.stride(), v.storage_offset(), v._base is x._base)
torch.ones(2, 1, 3).squeeze(1).stride(), torch.ones(2, 3).unsqueeze(1).stride(), torch.ones(3).expand(1, 2, 3).stride()
torch.zeros(0, 3).stride(), torch.zeros(2, 0, 3).transpose(0, 2).stride()
x[5:2].shape, x[:, 3:].storage_offset()
x.view(-1)._base is x._base
x.transpose(0, 1).reshape(-1)._base
x.flatten(1).shape, x.unflatten(2, (2, -1)).shape, x.movedim(0, -1).shape
[tuple(p.shape) for p in x.split(2, 1)], [tuple(p.shape) for p in x.tensor_split(3, 2)], [tuple(p.shape) for p in x.chunk(5, 2)]
