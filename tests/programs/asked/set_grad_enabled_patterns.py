"""Set grad enabled patterns."""
import torch
x = torch.ones(1, requires_grad=True)
torch.set_grad_enabled(False)
(x * 2).requires_grad
torch.set_grad_enabled(True)
@torch.enable_grad()
def f(t):
    return t * 2
@torch.no_grad
def g(t):
    return t * 2
@torch.inference_mode()
def h(t):
    return t * 2
with torch.no_grad():
    print(f(x).requires_grad)
g(x).requires_grad, h(x).requires_grad, h(x).is_inference()
with torch.no_grad():
    y = x * 2
y.requires_grad_()
y.sum().backward()
y.grad
with torch.no_grad():
    w = torch.ones(2, requires_grad=True)
w.requires_grad
with torch.no_grad() as ng:
    print(torch.is_grad_enabled())
with torch.set_grad_enabled(True):
    print(torch.is_grad_enabled())
try:
    with torch.no_grad():
        raise ValueError("inside")
except ValueError:
    pass
torch.is_grad_enabled()
def gen():
    with torch.no_grad():
        yield torch.is_grad_enabled()
[v for v in gen()], torch.is_grad_enabled()
with torch.no_grad():
    p = torch.nn.Parameter(torch.ones(1))
    l = torch.nn.Linear(1, 1)
p.requires_grad, l.weight.requires_grad
with torch.inference_mode():
    i = torch.ones(2)
    v = x.view(1)
i.requires_grad = True
v.is_inference(), v.requires_grad
i[0] = 5
with torch.inference_mode():
    i[0] = 5
i
x * i
torch.nn.functional.linear(i, torch.ones(1, 2, requires_grad=True))
