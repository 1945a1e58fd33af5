"""cat and stack of shapes and dtypes that do and do not fit."""
import torch

a = torch.ones(2, 3)
torch.cat([])
torch.cat(a)
torch.cat([a, torch.ones(2, 4)])
torch.cat([a, torch.ones(3)])
torch.cat([a, torch.ones(1, 3)], 1)
torch.cat([a, a], 2)
torch.cat([torch.tensor(1), torch.tensor(2)])
torch.cat([a, torch.tensor([])]).shape
torch.cat([a, torch.ones(2, 3, dtype=torch.int64), torch.ones(1, 3, dtype=torch.double)]).dtype
torch.cat([a, 3])
torch.cat((a, a), dim=-1), torch.concat([a, a]).shape, torch.concatenate([a], axis=1).shape
torch.stack([a, torch.ones(3, 2)])
torch.stack([])
torch.stack([a, a], 3)
torch.stack([a, a], -1).shape, torch.stack([torch.tensor(1), torch.tensor(2.5)])
torch.hstack([torch.tensor(1), torch.tensor([2, 3])]), torch.vstack([torch.arange(2), torch.arange(2)])
torch.cat([a, a], out=torch.empty(0)).shape
torch.cat([a[:0], a]).stride(), torch.cat([a.t(), a.t()]).stride()
torch.cat([a, None])
torch.cat([torch.ones(0, 2), a])
torch.cat([torch.tensor([True]), torch.tensor([2], dtype=torch.uint8)])
