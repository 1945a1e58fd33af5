"""View operations in place: they bump the version and take a node of their own."""
import torch

x = torch.ones(2, 3, requires_grad=True)
y = x * 1
v = y[0]
y.t_()
y.shape, y._version, y.grad_fn.name()
v.grad_fn.name(), v
y.unsqueeze_(0).squeeze_(0).transpose_(0, 1)
y.grad_fn.name(), y._version
y.sum().backward()
x.grad
x.t_()
z = (x * 2)[:1]
z.squeeze_()
z.grad_fn.name(), z._base.grad_fn.name()
z.mul_(3)
z.grad_fn.name(), z._base.grad_fn.name()
torch.ones(2, 3, 4).t_()
