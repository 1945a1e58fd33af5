"""copy_: broadcasting, converting, histories."""
import torch

a = torch.zeros(2, 2)
a.copy_(torch.ones(3))
a.copy_(torch.ones(2)), a.copy_(5), a.copy_([1, 2])
a.copy_(torch.tensor(7)), a._version
a.copy_(torch.ones(2, 2, 2))
a.copy_(None)
torch.zeros(2, dtype=torch.int8).copy_(torch.tensor([300., -1.5])), torch.zeros(2, dtype=torch.bool).copy_(torch.tensor([0.5, 0])), torch.zeros(2).copy_(torch.tensor([True, False]))
b = torch.ones(2, 2, requires_grad=True)
a.copy_(b)
a.grad_fn.next_functions
c = torch.zeros(2, 2, requires_grad=True) * 1
c.copy_(b * 2)
c.sum().backward()
b.grad
b.copy_(a)
a.t().copy_(torch.arange(4.).view(2, 2))
a
torch.zeros(0).copy_(torch.ones(1)), a.copy_(a.clone(), non_blocking=True).shape
torch.zeros(2).swapaxes(0, 0).copy_(torch.ones(1))
