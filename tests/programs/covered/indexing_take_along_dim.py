"""take_along_dim: indices that wrap around, operands that broadcast, and the calls that are refused."""
import torch
prices = torch.tensor([[3., 1., 2.], [9., 8., 7.]], requires_grad=True)
order = prices.argsort(dim=1)
lowest = torch.take_along_dim(prices, order, dim=1)
lowest
lowest.grad_fn._saved_index, lowest.grad_fn._saved_dim
torch.autograd.grad(lowest[:, 0].sum(), prices)
torch.take_along_dim(prices, torch.tensor([[-1, 4]]), 1)
torch.take_along_dim(prices, torch.tensor([5, 0]))
torch.take_along_dim(prices, torch.tensor([-1]))
torch.take_along_dim(prices, torch.tensor([1, 0], dtype=torch.int32))
torch.take_along_dim(prices, torch.tensor([[1, 0]], dtype=torch.int32), 1)
torch.take_along_dim(prices, torch.tensor([0]), 1)
torch.take_along_dim(prices, torch.tensor([[0]]), 2)
torch.take_along_dim(prices, torch.tensor([[0, 0]]), 0)
torch.take_along_dim(prices.t(), torch.tensor([0]))
torch.take_along_dim(torch.zeros(2, 0), torch.zeros(2, 1, dtype=torch.int64), 1)
torch.take_along_dim(torch.zeros(2, 0), torch.zeros(2, 0, dtype=torch.int64), 1)
torch.take_along_dim(prices.detach(), order, 1, out=torch.empty(0))
torch.take_along_dim(prices, order, dim=True)
torch.take_along_dim(torch.ones(3, 4, 1), torch.ones(1, 2, 5, dtype=torch.int64), 1).shape
