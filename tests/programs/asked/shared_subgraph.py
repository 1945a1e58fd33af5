"""Shared subgraph."""
import torch
x = torch.ones(2, 2, requires_grad=True)
h = x * x
loss1 = h.sum()
loss2 = (h * 3).sum()
loss1.backward()
loss2.backward()
h = x * x
(h.sum() + (h * 3).sum()).backward()
x.grad
x.grad = None
h = x * x
loss1 = h.sum()
loss2 = (h * 3).sum()
loss1.backward(retain_graph=True)
x.grad
loss2.backward()
x.grad
torch.autograd.backward([x.sum(), (x * 2).sum()])
x.grad
