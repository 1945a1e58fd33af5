"""The .grad attribute of a Tensor that is not a leaf Tensor is being accessed."""
import torch
x = torch.ones(2, requires_grad=True)
y = x * 2
z = y.sum()
z.backward()
y.grad
x.grad
y = x * 2
y.retain_grad()
y.retains_grad
y.sum().backward()
y.grad
x.retain_grad()
torch.ones(2).retain_grad()
w = torch.randn(3, requires_grad=True).cuda if False else torch.ones(3, requires_grad=True).double()
w.sum().backward()
w.grad
w.is_leaf
