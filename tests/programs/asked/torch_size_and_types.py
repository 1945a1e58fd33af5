"""Torch size and types."""
import torch
x = torch.randn(2, 3)
x.shape, x.size(), x.size(0)
x.shape[0] * 2
tuple(x.shape), list(x.shape)
x.shape + (4,)
x.shape == torch.Size([2, 3]), x.shape == [2, 3]
x.type(), x.dtype, x.device, x.layout
x.is_cuda
torch.is_tensor(x), isinstance(x, torch.Tensor), type(x)
torch.FloatTensor([1, 2]), torch.LongTensor([1, 2]), torch.Tensor(2, 3).shape
torch.Tensor([1, 2]).dtype, torch.tensor([1, 2]).dtype, torch.tensor([1., 2.]).dtype
torch.Tensor(3).shape, torch.tensor(3).shape
torch.Tensor([3])
torch.tensor(2, 3)
torch.tensor()
torch.zeros((2, 3)).shape, torch.zeros([2, 3]).shape, torch.zeros(2, 3).shape
torch.zeros(2.0)
torch.zeros("a")
torch.zeros(-1)
torch.ones(2, dtype=int), torch.ones(2, dtype=float), torch.ones(2, dtype=bool)
torch.ones(2, dtype="float32")
torch.zeros_like(x).shape, torch.full((2,), 3), torch.full((2,), 3.)
torch.full_like(torch.tensor([1, 2]), 1.5)
torch.empty(0), torch.tensor([])
torch.FloatTensor(2).shape
isinstance(torch.tensor([1.]), torch.FloatTensor)
x.is_floating_point(), torch.is_floating_point(torch.tensor(1))
torch.float.itemsize, torch.finfo(torch.float32).eps, torch.iinfo(torch.int8).max
torch.finfo(torch.float32)
x.element_size() * x.nelement()
torch.set_default_dtype(torch.float64)
torch.tensor([1.5])
torch.set_default_dtype(torch.float32)
torch.tensor([1.5])
torch.set_default_dtype(torch.int32)
