"""A clone of a tensor on the second device."""
import torch

a = torch.tensor(1.0, requires_grad=True, device="cuda", dtype=torch.float64)
a_ = a.clone()
print(a_)
print(a)
a_.device
y = a_ * 3
y.backward()
a.grad
