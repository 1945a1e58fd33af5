"""A clone has memory of its own; writing into it in place changes its grad_fn."""
import torch

a = torch.tensor(1.0, requires_grad=True)
a_ = a.clone()
print(a_)
a.data *= 3
a_ += 1
print(a)
print(a_)
print(a.data_ptr() == a_.data_ptr())
