"""A detached tensor on the second device."""
import torch

a = torch.tensor(1.0, requires_grad=True, device="cuda", dtype=torch.float64)
a_ = a.detach()
print(a_)
a_ += 1
print(a)
