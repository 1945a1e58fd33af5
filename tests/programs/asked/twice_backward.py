"""Trying to backward through the graph a second time."""
import torch
x = torch.tensor(3., requires_grad=True)
y = x ** 2
y.backward()
y.backward()
x.grad
y = x ** 2
y.backward(retain_graph=True)
y.backward(retain_graph=True)
y.backward()
x.grad
z = x + 1
z.backward()
z.backward()
x.grad
a = x.exp()
b = a * 2
c = a * 3
b.backward()
c.backward()
