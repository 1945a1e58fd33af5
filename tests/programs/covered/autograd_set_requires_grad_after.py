"""requires_grad_() after a view or a result was made."""
import torch

x = torch.ones(2)
y = x * 2
x.requires_grad_()
y.requires_grad
z = x * y
z.sum().backward()
x.grad
v = torch.zeros(4)
w = v.view(2, 2)
v.requires_grad_()
w.requires_grad, w.is_leaf, w.grad_fn
w.sum().backward()
w.add_(1)
u = v.view(2, 2)
u.requires_grad
u.sum().backward()
v.grad
