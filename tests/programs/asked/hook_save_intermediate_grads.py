"""Hook save intermediate grads."""
import torch
grads = {}
def save_grad(name):
    def hook(grad):
        grads[name] = grad
    return hook
x = torch.tensor([2.], requires_grad=True)
y = x * x
z = y * 3
y.register_hook(save_grad("y"))
z.register_hook(save_grad("z"))
z.backward()
grads
grads["y"]
def bad(grad):
    grad.mul_(0)
w = torch.tensor([1., 2.], requires_grad=True)
w.register_hook(bad)
(w * 3).sum().backward()
w.grad
