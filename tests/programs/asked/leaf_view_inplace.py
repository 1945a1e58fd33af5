"""Leaf view inplace."""
import torch
w = torch.zeros(3, 3, requires_grad=True)
w[0] = 1
w[0, 0] = 1.
w[:, 1].fill_(2)
w.view(-1)[0] = 1
w.T[0] += 1
w.data[0] = 1
w
with torch.no_grad():
    w[1] = 5
w
w.requires_grad = False
w[2] = 7
w
w.requires_grad_()
v = w.clone()
v[0] = 10
v
v.sum().backward()
w.grad
