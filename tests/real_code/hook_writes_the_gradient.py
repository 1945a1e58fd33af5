# What happens: a hook scales its gradient in place; the other branch of a sum was given the same tensor.
# Reported: pytorch/pytorch#46168
# Call: watch
# Says: wrote into the gradient that it was given, once (hook_writes_the_gradient.py
import torch

x, y = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
a, b = x * 1, y * 1
b.register_hook(lambda g: g.mul_(0))
((a + b) ** 2).sum().backward()
assert not x.grad.any()
