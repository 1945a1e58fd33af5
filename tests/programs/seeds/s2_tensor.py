"""torch.tensor(t) copies and warns; the warning names the better order."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = torch.tensor(z)
print(z_copy)
print(z_copy.requires_grad)
print(z_copy.is_leaf, z_copy.grad_fn, z_copy.data_ptr() == z.data_ptr())
z_copy = torch.tensor(z, requires_grad=True)
print(z_copy)
print(z_copy.is_leaf)
z.clone().detach().requires_grad_(True)
