"""Broadcasting errors."""
import torch
torch.ones(3) + torch.ones(4)
torch.ones(2, 3) * torch.ones(2)
torch.ones(2, 3) * torch.ones(2, 1)
torch.ones(2, 3) + torch.ones(3, 2)
a = torch.ones(3)
a += torch.ones(2, 3)
a.add_(torch.ones(2))
torch.ones(5, 3, 4, 1).add(torch.ones(3, 1, 1)).shape
torch.broadcast_tensors(torch.ones(1, 2), torch.ones(3, 1))[0].shape
torch.broadcast_shapes((2, 1), (1, 3))
torch.broadcast_shapes((2, 3), (3, 2))
torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
torch.ones(2, 3)[:, None] - torch.ones(2, 3)[None]
torch.ones(2) == torch.ones(3)
torch.where(torch.ones(2, dtype=torch.bool), torch.ones(3), torch.ones(2))
x = torch.zeros(2, 2)
x[0] = torch.ones(3)
x[:, 0] = torch.tensor([1., 2., 3.])
x[:] = torch.tensor([5., 6.])
x
x.copy_(torch.ones(3))
x.masked_fill_(torch.tensor([True, False]), 7)
torch.max(torch.ones(2), torch.ones(3))
torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))
torch.nn.MSELoss()(torch.ones(3), torch.ones(2))
