"""backward under no_grad, and what can be made there."""
import torch

x = torch.tensor(3., requires_grad=True)
y = x ** 2
with torch.no_grad():
    y.backward()
    print(x.grad)
    g, = torch.autograd.grad(x ** 2 if False else (y * 1 if y.requires_grad else y), x, allow_unused=True) if False else (None,)

with torch.no_grad():
    z = x * 2

z.backward()
with torch.enable_grad():
    w = x.detach() * 2

w.backward()
with torch.no_grad():
    p = torch.nn.Parameter(torch.ones(1))
    t = torch.ones(1, requires_grad=True)
    print(p.requires_grad, t.requires_grad, (p * t).requires_grad, t.clone().requires_grad, t.view(1).requires_grad)

x.backward()
x.grad
x.backward(torch.tensor([1.]))
