"""A hook that removes itself, and one that holds for a with block."""
import torch

x = torch.ones(1, requires_grad=True)
handles = []
def once(g):
    handles[0].remove()
    print("once", g)

handles.append(x.register_hook(once))
(x * 2).backward()
(x * 2).backward()
x.grad
with x.register_hook(lambda g: g * 100) as h:
    (x * 1).backward()

(x * 1).backward()
x.grad
h.id >= 0
x.register_hook(3)
