"""Tensor hooks run before the prehooks of a node; autograd.grad runs a leaf's tensor hooks."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = x * 2
h = y.grad_fn.register_prehook(lambda gs: print("prehook"))
k = y.register_hook(lambda g: print("tensor hook"))
y.sum().backward()
m = x.register_hook(lambda g: print("leaf hook"))
torch.autograd.grad((x * 3).sum(), x)
