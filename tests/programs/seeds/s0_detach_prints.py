"""A detached tensor: same shape, dtype and device, no gradient."""
import torch

a = torch.tensor(1.0, requires_grad=True, dtype=torch.float64)
a_ = a.detach()
print(a_)
print(a_.shape, a_.dtype, a_.device)
print(a_.is_leaf, a_.requires_grad, a_.grad_fn)
