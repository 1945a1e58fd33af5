"""clone() of a result: memory of its own, gradient and graph kept."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = z.clone()
print(z_copy)
print(z_copy.requires_grad)
print(z_copy.is_leaf, z_copy.data_ptr() == z.data_ptr())
