"""Gradients of max, min, median, clamp and maximum where elements are equal."""
import torch

x = torch.tensor([1., 3., 3., 2.], requires_grad=True)
for f in (torch.max, torch.min, torch.amax, torch.amin, torch.median):
    x.grad = None
    f(x).backward()
    print(f.__name__, x.grad)

m = x.max(0)
m
x.grad = None
m.values.backward()
x.grad
x.grad = None
x.median(0).values.backward()
x.grad
x.grad = None
torch.maximum(x, torch.full((4,), 3.)).sum().backward()
x.grad
x.grad = None
x.clamp(2, 3).sum().backward()
x.grad
