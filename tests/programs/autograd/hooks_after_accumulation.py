"""register_post_accumulate_grad_hook, retain_grad and their errors."""
import torch

def fresh():
    global x, y, z
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    z = (y * y).sum()

fresh()
torch.ones(2).register_post_accumulate_grad_hook(print)
y.register_post_accumulate_grad_hook(print)
torch.ones(2).retain_grad()
x.retain_grad()
print(x.retains_grad, y.retains_grad)
y.retain_grad()
y.retains_grad
h = x.register_post_accumulate_grad_hook(lambda p: setattr(p, "grad", None))
z.backward()
print(x.grad, y.grad)
fresh()

def step(p):
    with torch.no_grad():
        p -= 0.1 * p.grad

h = x.register_post_accumulate_grad_hook(step)
z.backward(retain_graph=True)
x
h.remove()
fresh()
y.retain_grad()
y.detach_()
print(y, y.retains_grad)
y.requires_grad_()
(y * 2).sum().backward()
y.grad
fresh()
a = x * 2
b = a[:1]
a.retain_grad()
b.retain_grad()
h = a.register_hook(lambda g: print("old a", g))
a.mul_(3)
h = a.register_hook(lambda g: print("new a", g))
(a.sum() + b.sum()).backward()
print(a.grad, b.grad, x.grad)
