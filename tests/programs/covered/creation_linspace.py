"""linspace, logspace, meshgrid, tril and their relatives."""
import torch

torch.linspace(0, 1, 5), torch.linspace(0, 1, 1), torch.linspace(0, 1, 0), torch.linspace(3, -3, 4), torch.linspace(0, 10, 4, dtype=torch.int64), torch.linspace(-1, 1, 6).tolist()
torch.linspace(0, 1, -1)
torch.linspace(0, 1)
torch.linspace(0, 1, 2.5)
torch.linspace(torch.tensor(0.), torch.tensor(1.), 3), torch.linspace(torch.tensor([0., 1.]), 2, 3)
torch.linspace(0, 1, 3, dtype=torch.float64), torch.linspace(start=0, end=1, steps=2), torch.linspace(0, 1, 3, requires_grad=True)
torch.linspace(0.1, 0.9, 7).tolist(), torch.linspace(0, 1, 10).tolist()
torch.linspace(0, 5, 4, dtype=torch.uint8), torch.linspace(-5, 5, 4, dtype=torch.int32)
torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")
torch.meshgrid(torch.arange(2), torch.arange(3))
torch.meshgrid(torch.arange(2), torch.arange(2), indexing="xy")[0]
torch.meshgrid(torch.arange(2), indexing="foo")
torch.tril(torch.ones(3, 3), -1), torch.triu(torch.ones(2, 3), 1), torch.ones(3, 3).tril_(1), torch.tril(torch.ones(2))
torch.tril(torch.arange(8).view(2, 2, 2)), torch.ones(2, 2, dtype=torch.bool).triu()
