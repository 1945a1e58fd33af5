"""Hook modify."""
import torch
v = torch.tensor([0., 0., 0.], requires_grad=True)
h = v.register_hook(lambda grad: grad * 2)
v.backward(torch.tensor([1., 2., 3.]))
v.grad
h.remove()
v.backward(torch.tensor([1., 2., 3.]))
v.grad
x = torch.ones(3, requires_grad=True)
y = x * 3
handle = y.register_hook(lambda g: print("grad of y", g))
y.register_hook(lambda g: g.clamp(max=0.5))
z = y.sum()
z.backward()
x.grad
y = x * 3
y.register_hook(lambda g: "nope")
y.sum().backward()
y = x * 3
y.register_hook(lambda g: g[:2])
y.sum().backward()
torch.ones(2).register_hook(print)
