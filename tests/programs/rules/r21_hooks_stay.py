"""A hook stays with the version it was put on; retain_grad follows the newest."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
y = x * 1
h = y.register_hook(lambda g: print("hook", g))
y.retain_grad()
y.mul_(3)
(y * 10).sum().backward()
print(y.grad)
print(x.grad)
