"""0-d tensors and bools in the place of numbers, and what is looked at before what."""

import torch

torch.manual_seed(0)
torch.empty(3).normal_(torch.tensor(2.0), torch.tensor(1.0))
torch.empty(3).normal_(True)
torch.empty(3).normal_(torch.ones(2))
torch.empty(3).exponential_(torch.tensor(2))
torch.ones(3).norm(torch.tensor(2))
torch.ones(3).norm([2])
torch.meshgrid(torch.ones(2, 2), torch.tensor(1), indexing="ij")
torch.ones(2).squeeze(2**63)
torch.ones(2).type(torch.ones(2))
torch.randperm(torch.tensor(3.0))
torch.tensor([1, 2]).cumsum_(0, dtype=torch.float)
torch.ones(2).index_put(torch.tensor([0]), torch.tensor(5.0))
