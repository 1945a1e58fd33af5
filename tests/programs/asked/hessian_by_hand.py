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
torch.autograd.functional.hessian(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]))
torch.autograd.functional.jacobian(lambda x: x ** 2, torch.tensor([1., 2.]))
torch.autograd.functional.jacobian(lambda x, y: x * y, (torch.tensor([1., 2.]), torch.tensor([3., 4.])))
torch.autograd.functional.hvp(lambda x: (x ** 3).sum(), torch.tensor([1., 2.]), torch.tensor([1., 0.]))
torch.autograd.functional.vjp(lambda x: x.exp(), torch.tensor([0., 1.]), torch.ones(2))
torch.autograd.functional.jvp(lambda x: x.exp(), torch.tensor([0., 1.]), torch.ones(2))
