"""Hessian by hand."""
import torch
def hessian(y, x):
    g = torch.autograd.grad(y, x, create_graph=True)[0]
    rows = []
    for i in range(len(x)):
        rows.append(torch.autograd.grad(g[i], x, retain_graph=True)[0])
    return torch.stack(rows)
x = torch.tensor([1., 2., 3.], requires_grad=True)
y = (x ** 2 * torch.tensor([1., 2., 3.])).sum() + x[0] * x[1] * x[2]
hessian(y, x)
