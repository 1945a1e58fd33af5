"""The layout that results keep."""
import torch

x = torch.zeros(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
x.stride(), x.is_contiguous(), x.is_contiguous(memory_format=torch.channels_last)
torch.empty_like(x).stride(), torch.zeros_like(x, memory_format=torch.contiguous_format).stride()
x.clone().stride(), x.clone(memory_format=torch.contiguous_format).stride()
(x + 1).stride(), (x + torch.zeros(2, 3, 4, 5)).stride(), (torch.zeros(2, 3, 4, 5) + x).stride()
x.to(torch.float64).stride(), x.sum(0).stride(), x.sum(0, keepdim=True).stride()
y = torch.zeros(2, 3, 4).permute(2, 0, 1)
y.clone().stride(), torch.ones_like(y).stride(), y.exp().stride(), (y * torch.ones(4, 1, 1)).stride(), y.double().stride()
z = torch.zeros(4, 6)[:, ::2]
z.clone().stride(), torch.empty_like(z).stride(), (z + 1).stride()
e = torch.zeros(3, 1).expand(3, 4)
e.clone().stride(), torch.zeros_like(e).stride(), (e + 1).stride(), e.contiguous().stride()
torch.empty(2, 3, memory_format=torch.channels_last)
torch.empty(2, 3, 4, 5, memory_format=torch.channels_last).stride()
torch.empty(2, 3, memory_format=torch.preserve_format)
torch.empty_strided((2, 3), (1, 2)).stride()
torch.rand_like(y).stride(), torch.full_like(y, 2).stride()
y.new_zeros(2, 2).stride(), y.new_empty_strided((2, 2), (1, 2)).stride()
torch.channels_last, torch.contiguous_format, torch.preserve_format
x.contiguous(memory_format=torch.preserve_format)
torch.where(y > 0, y, y).stride(), torch.stack([y, y]).stride(), torch.cat([y, y]).stride()
x.mean(1).stride(), x.permute(0, 2, 3, 1).is_contiguous()
