"""Setting requires grad."""
import torch
x = torch.tensor([1, 2, 3])
x.requires_grad = True
x = torch.tensor([1, 2, 3], requires_grad=True)
x = torch.tensor([True], requires_grad=True)
x = torch.tensor([1., 2., 3.])
x.requires_grad
y = x * 2
y.requires_grad = True
x.requires_grad_()
y = x * 2
y.requires_grad = False
y.requires_grad_(False)
y.requires_grad_(True)
y.detach().requires_grad_()
x.requires_grad = False
x
x.float().requires_grad
x.requires_grad_(True).double()
x.requires_grad_(True).long()
