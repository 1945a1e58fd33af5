"""First and second gradients through views and in-place writes; gradients of what was written to."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)

def twice(f):
    g, = torch.autograd.grad(f(x), x, create_graph=True)
    return g, torch.autograd.grad((g * g).sum(), x, allow_unused=True)

twice(lambda x: (x[:2] ** 3).sum())
twice(lambda x: (x.view(3, 1) * x).pow(2).sum())
twice(lambda x: x.expand(2, 3).pow(3).sum())

def by_view(x):
    y = x ** 2
    y[:1].mul_(x[:1])
    return (y * y).sum()

def by_both(x):
    y = x.clone()
    v = y[1:]
    v.pow_(2)
    y.mul_(x)
    return (y * y).sum() + v.sum()

def into_zeros(x):
    y = torch.zeros(3)
    y[0] = x[0] * x[1]
    y[1:].copy_(x[:2] ** 2)
    return (y ** 2).sum()

twice(by_view)
twice(by_both)
twice(into_zeros)
w = x * 1
w.mul_(2)
torch.autograd.grad((w * w).sum(), w)
v = x * 1
u = v[:2]
torch.autograd.grad((v ** 2).sum(), u)
torch.autograd.grad((u * 3).sum(), [v, u], allow_unused=True)
u.mul_(2)
torch.autograd.grad((u * 3).sum() + v.sum(), [v, u], allow_unused=True)
torch.autograd.grad((v * 3).sum(), [u], allow_unused=True)
v = x * 1
u = v[:2]
u.retain_grad()
v.retain_grad()
u.mul_(2)
(v * u.sum()).sum().backward()
print(v.grad, u.grad, x.grad)
leaf = torch.zeros(3, requires_grad=True)
part = leaf[:1]
part.add_(1)
with torch.no_grad():
    part.add_(1)
print(leaf, part)
leaf.sum().backward()
leaf.grad
plain = torch.zeros(3)
part = plain[:1]
part.requires_grad_()
print(part.is_leaf, plain.requires_grad)
part.mul_(2)
plain.mul_(2)
(part * 2).sum().backward()
print(part.grad, plain.grad)
y = x * 2
x.requires_grad_(False)
y.sum().backward()
w = torch.ones(3, requires_grad=True)
y = w * 2
w.requires_grad_(False)
w.mul_(torch.ones(3, requires_grad=True))
y.sum().backward()
w = torch.ones(2, requires_grad=True)
y = w * 2
w.data = torch.ones(3)
y.sum().backward()
print(w, w.grad)
