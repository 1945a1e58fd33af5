"""z_copy.new_tensor(z) before z_copy exists is a NameError; z.new_tensor(z) is meant."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = z_copy.new_tensor(z)
z_copy = z.new_tensor(z)
print(z_copy)
print(z_copy.requires_grad)
print(z_copy.is_leaf, z_copy.grad_fn, z_copy.data_ptr() == z.data_ptr())
