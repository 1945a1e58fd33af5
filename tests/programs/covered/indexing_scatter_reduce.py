"""Reducing into chosen places: scatter_reduce and index_reduce, with and without what was there, and their gradients."""
import torch
seats = torch.tensor([10., 20., 30.], requires_grad=True)
who = torch.tensor([0, 0, 2, 2, 2])
paid = torch.tensor([1., 5., 2., 7., 7.], requires_grad=True)
for how in ("sum", "prod", "mean", "amax", "amin"):
    print(how, seats.scatter_reduce(0, who, paid, how), seats.scatter_reduce(0, who, paid, how, include_self=False))

top = seats.scatter_reduce(0, who, paid, "amax", include_self=False)
torch.autograd.grad(top.sum(), (seats, paid))
torch.autograd.grad(seats.scatter_reduce(0, who, paid, "mean").sum(), (seats, paid))
zeros = torch.tensor([2., 0., 3.], requires_grad=True)
torch.autograd.grad(torch.ones(1).scatter_reduce(0, torch.zeros(3, dtype=torch.int64), zeros, "prod").sum(), zeros)
top.grad_fn._saved_reduce, top.grad_fn._saved_include_self, top.grad_fn._saved_dim
torch.tensor([7, 7]).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([-3, 1]), "mean")
torch.tensor([True, False]).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([False, True]), "mean")
seats.scatter_reduce(0, who, paid, "add")
seats.scatter_reduce(0, who, 1., "sum")
seats.scatter_reduce(0, who.float(), paid, "sum")
seats.scatter_reduce(0, who + 1, paid, "sum")
seats.scatter_reduce_(0, who, paid, "sum")
here = torch.zeros(3)
here.scatter_reduce_(0, who, paid.detach(), "amin", include_self=False), here._version
torch.scatter_reduce(here, 0, who, paid.detach(), "sum", out=torch.empty(0))
table = torch.arange(6.).reshape(3, 2)
table.index_reduce(0, torch.tensor([1, 1]), torch.tensor([[2., 3.], [4., 5.]]), "prod")
table.index_reduce(0, torch.tensor([5]), torch.ones(1, 2), "mean")
table.index_reduce(0, torch.tensor([1]), torch.ones(1, 2), "sum")
