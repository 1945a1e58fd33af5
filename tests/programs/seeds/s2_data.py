""".data of a result: same memory, no gradient."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x + y
z_copy = z.data
print(z_copy)
print(z_copy.requires_grad)
print(z_copy.is_leaf, z_copy.grad_fn, z_copy.data_ptr() == z.data_ptr())
