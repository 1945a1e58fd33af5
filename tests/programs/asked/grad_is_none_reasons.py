"""Grad is none reasons."""
import torch
import torch.nn as nn
x = torch.tensor([1., 2.])
w = torch.tensor([3., 4.], requires_grad=True) * 2
y = (w * x).sum()
y.backward()
w.grad
x.grad
w = torch.tensor([3., 4.], requires_grad=True).to(torch.float64)
w.is_leaf
w = torch.tensor([3., 4.], requires_grad=True)
w = w.view(2, 1)
w.sum().backward()
w.grad
w = torch.rand(2).requires_grad_()
w.is_leaf
w = torch.nn.Parameter(torch.rand(2)) / 2
w.is_leaf
p = nn.Parameter(torch.ones(2))
loss = (p.data * 2).sum()
loss.backward()
loss = (p.detach() * 2).sum()
loss.requires_grad = True
loss.backward()
p.grad
q = torch.tensor(p.tolist())
loss = torch.tensor(float((p * 2).sum()), requires_grad=True)
loss.backward()
p.grad, loss.grad
i = (p * 2).argmax()
i.requires_grad
(p > 0.5).float().requires_grad
p.sign().requires_grad
