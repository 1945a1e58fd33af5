"""empty_like(z).copy_(z): memory of its own, gradient and graph kept."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = torch.empty_like(z).copy_(z)
print(z_copy)
print(z_copy.requires_grad, z_copy.is_leaf)
print(z_copy.data_ptr() == z.data_ptr())
z_copy.backward()
print(x.grad, y.grad)
