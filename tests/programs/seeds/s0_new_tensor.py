"""new_tensor copies, and takes its dtype from the tensor it is called on, not from the data."""
import torch

a = torch.tensor([1.5, 2.5], requires_grad=True)
b = a.new_tensor(a)
print(b)
print(b.requires_grad, b.is_leaf, b.data_ptr() == a.data_ptr())
c = a.new_tensor(a, requires_grad=True)
print(c)
print(c.is_leaf, c.grad_fn)
i = torch.tensor([7, 8])
d = i.new_tensor(a)
print(d)
print(a.detach().clone())
e = a.new_tensor([1, 2, 3])
print(e)
f = a.new_tensor([1, 2, 3], dtype=torch.float64, requires_grad=True)
print(f)
