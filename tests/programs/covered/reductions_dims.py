"""Reductions along one, several, all and no dimensions."""
import torch

x = torch.arange(24.).view(2, 3, 4)
x.sum(), x.sum(0).shape, x.sum((0, 2)), x.sum((0, 1), keepdim=True).shape, x.sum(dim=()).shape, x.sum([]).shape, x.sum(None), x.sum(-1, dtype=torch.int32), x.mean((0, 1, 2)), x.mean(()) if True else 0
x.sum((0, 0))
x.sum(3)
x.sum((0, -3))
x.sum(0.5)
x.sum("a")
x.sum(0, True).shape, x.sum(axis=1).shape, x.sum(dim=1, keepdims=True).shape
x.prod(), x.prod(1).shape, x.prod(0, keepdim=True).shape
x.prod((0, 1))
x.amax((0, 2)), x.amin(1).shape
x.max((0, 1))
x.amax((0, 0))
x.all(), x.any(0).shape, x.all((0, 1)), torch.any(x, dim=(1, 2)), x.bool().all(dim=1, keepdim=True).shape, torch.tensor([1, 2], dtype=torch.uint8).any()
x.std(), x.std(0).shape, x.std((0, 1)), x.var((1, 2), keepdim=True).shape, x.logsumexp((0, 1)), x.norm(dim=(0, 1)).shape
torch.tensor(3.).sum(0), torch.tensor(3.).sum(-1, keepdim=True), torch.tensor(3.).max(0), torch.tensor(3.).argmax(0), torch.tensor(3.).mean(0)
torch.tensor(3.).sum(1)
torch.sum(x, dim=0, out=torch.empty(0)).shape, torch.sum(x.long(), dtype=torch.float32), torch.count_nonzero(x, (0, 1))
x.argmax(), x.argmax(1).shape, x.argmax(1, keepdim=True).shape, x.argmin(-1), x.argmax(keepdim=True).shape
x.argmax((0, 1))
