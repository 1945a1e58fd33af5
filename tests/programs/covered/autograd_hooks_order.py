"""Tensor hooks run in order, each on what the one before returned."""
import torch

x = torch.ones(2, requires_grad=True)
y = x * 2
h1 = y.register_hook(lambda g: print("h1", g))
h2 = y.register_hook(lambda g: g * 10)
h3 = y.register_hook(lambda g: print("h3", g))
y.retain_grad()
y.sum().backward()
y.grad, x.grad
h2.remove()
h2.remove()
x.grad = None
y = x * 2
h = y.register_hook(lambda g: "nope")
y.sum().backward()
y = x * 2
h = y.register_hook(lambda g: torch.ones(3))
y.sum().backward()
y = x * 2
h = y.register_hook(lambda g: g.double())
y.sum().backward()
x.grad
x.detach().register_hook(print)
