"""Strides of views with sizes of 0 and 1."""
import torch

for shape in [(0,), (0, 3), (3, 0), (2, 0, 3), (1,), (1, 1), (2, 1, 3), ()]:
    x = torch.zeros(shape)
    print(shape, x.stride(), x.is_contiguous(), x.T.stride() if x.dim() < 3 else None, x.unsqueeze(0).stride(), x.unsqueeze(-1).stride(), x.reshape(-1).shape, x.squeeze().stride(), x.flatten().stride())

x = torch.zeros(2, 0, 3)
x.view(0, 5).stride(), x.view(0, -1)
x.view(3, 0).stride(), x.reshape(0, 4, 2).stride()
x.transpose(0, 2).stride(), x.permute(1, 2, 0).stride()
x.expand(4, 2, 0, 3).stride(), torch.zeros(1, 0).expand(5, 0).stride()
x.sum((0, 1)), x.max(2).values.shape
x.max(1)
x.max()
x.select(1, 0)
x[:, 0:0].stride(), x.narrow(0, 1, 0).stride()
torch.zeros(3)[3:].stride(), torch.zeros(3)[3:].storage_offset(), torch.zeros(3)[5:].storage_offset()
torch.zeros(4, 1).is_contiguous(), torch.zeros(4, 1).t().is_contiguous(), torch.zeros(4, 1).t().contiguous().stride()
