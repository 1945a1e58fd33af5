"""clone().detach() and detach().clone() of a result."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = z.clone().detach()
print(z_copy)
print(z_copy.requires_grad)
z_copy = z.detach().clone()
print(z_copy)
print(z_copy.requires_grad)
print(z_copy.is_leaf, z_copy.grad_fn, z_copy.data_ptr() == z.data_ptr())
