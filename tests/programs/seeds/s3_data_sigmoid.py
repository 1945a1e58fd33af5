"""Zeros written through out.data: the gradient comes out as zeros, without a word."""
import torch

a = torch.tensor([1,2,3.], requires_grad =True)
out = a.sigmoid()
c = out.data
c.zero_()
out
out.sum().backward()
a.grad
b = torch.tensor([1,2,3.], requires_grad =True)
b.sigmoid().sum().backward()
b.grad
