"""Assign slices with grad."""
import torch
a = torch.ones(2, requires_grad=True)
x = torch.zeros(4)
x[:2] = a
x
x[2:] = a * 3
x
x.sum().backward()
a.grad
y = torch.zeros(2, 2)
y[0] = a
y[1] = y[0] * 2
y
y.sum().backward()
a.grad
z = torch.zeros(2)
z[0] = a[0] ** 2
z[1] = z[0] * a[1]
z[1].backward()
a.grad
w = torch.zeros(3, requires_grad=True)
v = w.clone()
v[0] = 5.
v[v > 1] = 0.
v
v.sum().backward()
w.grad
m = torch.zeros(2, 2)
m[torch.eye(2).bool()] = a
m
m.diagonal().mul_(2)
m
k = a.expand(2, 2).clone()
k[0, 0] = 0
k
k.sum().backward()
a.grad
q = torch.empty(2)
q[0], q[1] = a[0], a[1]
q
q.grad_fn
q.grad_fn.next_functions
