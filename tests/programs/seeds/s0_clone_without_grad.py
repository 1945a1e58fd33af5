"""The source does not require grad: its clone is a leaf, and can be made to require grad on its own."""
import torch

a = torch.tensor(1.0)
a_ = a.clone()
print(a_.is_leaf, a_.requires_grad, a_.grad_fn)
a_.requires_grad_()
y = a_ ** 2
y.backward()
print(a.grad)
print(a_.grad)
