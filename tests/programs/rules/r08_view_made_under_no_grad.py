"""A view made under no_grad raises when it is changed in grad mode; changed under no_grad it has no valid grad_fn."""
import torch

x = torch.tensor([1., 2., 3.], requires_grad=True)
y = x * 1
with torch.no_grad():
    v = y[:2]

v.add_(1)
w = y[:2]
w.add_(1)
print(y)
u = y.detach().requires_grad_() * 1
with torch.no_grad():
    v = u[:2]
    v.add_(1)

print(v)
v.grad_fn
v.is_leaf
