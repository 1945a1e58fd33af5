"""Arguments that ways to make a tensor refuse, though Python would take them."""

import torch

torch.arange(3, step=2)
torch.arange(torch.tensor([3]))
torch.arange(2**63)
torch.full((2,), torch.tensor(3.0, requires_grad=True))
torch.tril(torch.ones(2, 2), 1.5)
torch.tile(torch.arange(3), 2)
torch.arange(3).tile(2)
torch.meshgrid(torch.ones(2, 2), indexing="ij")
torch.meshgrid(torch.tensor([[1.5, -200.0]]), indexing="ij")
torch.arange(3).repeat_interleave(torch.tensor([1, 0, 2]), output_size=4)
torch.empty(5).bernoulli_(torch.ones(3))
torch.nn.functional.one_hot(torch.tensor([], dtype=torch.int64))
torch.einsum(3, torch.ones(2))
torch.einsum("i->i", 3)
torch.einsum("i->i", [])
torch.promote_types(torch.int, float)
torch.save(1, "")
