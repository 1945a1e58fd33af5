"""The gradient of a clone flows back to its source and adds up there: 2, then 2 + 3."""
import torch

a = torch.tensor(1.0, requires_grad=True)
y = a ** 2
a_ = a.clone()
z = a_ * 3
y.backward()
print(a.grad)
z.backward()
print(a_.grad)
print(a.grad)
