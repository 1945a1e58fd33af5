"""requires_grad of integers, of non-leaves, and given as something else than a bool."""
import torch

torch.ones(2, dtype=torch.int64, requires_grad=True)
x = torch.ones(2, dtype=torch.int64)
x.requires_grad_()
x.requires_grad = True
x.requires_grad = False
y = torch.ones(2, requires_grad=True) * 2
y.requires_grad = False
y.requires_grad_(False)
y.requires_grad = True
torch.ones(2).requires_grad_("x")
z = torch.ones(2)
z.requires_grad = 1
torch.tensor([True], requires_grad=True)
torch.tensor([1.5, 2], requires_grad=1)
