"""Detach between networks A and B."""
import torch
import torch.nn as nn
torch.manual_seed(0)
A = nn.Linear(2, 2)
B = nn.Linear(2, 1)
x = torch.ones(1, 2)
y = A(x)
z = B(y.detach())
z.sum().backward()
A.weight.grad, B.weight.grad
z = B(y)
z.sum().backward()
A.weight.grad, B.weight.grad
with torch.no_grad():
    y = A(x)
z = B(y)
z.backward()
A.zero_grad(); B.zero_grad()
y = A(x)
for p in B.parameters():
    p.requires_grad_(False)
B(y).sum().backward()
A.weight.grad, B.weight.grad
z = B(A(x).data)
z.requires_grad
z.backward()
l1 = A(x).sum()
l2 = A(x).pow(2).sum()
opt = torch.optim.SGD(A.parameters(), lr=0.1)
l1.backward()
opt.step()
l2.backward()
opt.step()
A.weight
