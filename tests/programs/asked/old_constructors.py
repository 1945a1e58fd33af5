"""torch.Tensor(...) and the typed tensors: what they take by name, and what they refuse."""

import torch

torch.Tensor([1, 2], dtype=torch.int64)
torch.Tensor([1, 2], requires_grad=True)
torch.Tensor([1, 2], device="cuda")
torch.Tensor(torch.ones(2), device="cpu")
torch.Tensor(size=(2, 3)).shape
torch.Tensor(data=[1, 2])
torch.Tensor(shape=(2,))
torch.Tensor([1], [2])
torch.FloatTensor([1], dtype=torch.int)
torch.FloatTensor.is_cuda
torch.FloatTensor.sizes
type(torch.FloatTensor)
torch.FloatTensor(torch.ones(1, dtype=torch.int))
torch.ones(1).new(size=(2,)).shape
torch.ones(1).new([1], dtype=torch.int)
torch.ones(1).type(int)
torch.ones(1).type(torch.nn.Parameter)
torch.ones(1).to(3.5)
torch.arange(3).untyped_storage().new()
