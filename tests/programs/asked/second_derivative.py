"""Second derivative."""
import torch
x = torch.tensor(2., requires_grad=True)
y = x ** 3
g, = torch.autograd.grad(y, x, create_graph=True)
g
g2, = torch.autograd.grad(g, x, create_graph=True)
g2
g3, = torch.autograd.grad(g2, x)
g3
torch.autograd.grad(g3, x)
y = x ** 3
g = torch.autograd.grad(y, x)
torch.autograd.grad(g, x)
y = torch.sin(x)
for i in range(5):
    y, = torch.autograd.grad(y, x, create_graph=True)
    print(i, y)
y = x ** 2
y.backward(create_graph=True)
x.grad
x.grad.backward()
x.grad
