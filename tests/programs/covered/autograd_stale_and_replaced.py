"""Stale views, replaced data and set_: what is looked at first, and what is refused."""
import torch

x = torch.full((3,), 0.5, requires_grad=True)
part = (x + 1).unbind(0)[0]
with torch.no_grad():
    part.pow_(2)
torch.cat([part, part])
x = torch.tensor([[1., -2., 3.], [0.5, 1.5, -1.]], requires_grad=True)
flat = x.view(-1)
x.data = x.mean()
(flat * flat).sum().backward()
x = torch.tensor([1., 2., 3.], requires_grad=True)
with torch.no_grad():
    turned = x.t()
other = torch.tensor(1.5)
other.set_(turned).requires_grad
other.sum().backward()
w = torch.ones(2, 3, requires_grad=True)
w.grad = torch.ones(3, 2).t()
w.sum().backward()
w.grad, w.grad.stride()
