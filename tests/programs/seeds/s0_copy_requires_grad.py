"""What copy_ makes of requires_grad: the source's counts too, if the target is of a floating dtype and grad mode is on."""
import torch

b = torch.tensor([7.0, 8.0], requires_grad=True)
a = torch.zeros(2)
a.copy_(b)
print(a.requires_grad, a.is_leaf, a.grad_fn.name())
i = torch.zeros(2, dtype=torch.int64)
i.copy_(b)
print(i.requires_grad)
n = torch.zeros(2)
with torch.no_grad():
    n.copy_(b)

print(n.requires_grad, n)
leaf = torch.zeros(2, requires_grad=True)
leaf.copy_(b)
print(leaf)
