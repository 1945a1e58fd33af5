"""copy_ keeps memory, dtype and device of the target, and broadcasts."""
import torch

a = torch.tensor([[1, 2, 3], [4, 5, 6]])
b = torch.tensor([7.0, 8.0, 9.0], requires_grad=True)
before = a.data_ptr()
a.copy_(b)
print(a)
print(a.dtype, a.requires_grad, a.data_ptr() == before)
a[0, 0] = 100
print(b)
