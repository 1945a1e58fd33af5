"""Two ways from a to z, one of them through a clone: both gradients arrive, 2 and then 2 + 2 + 3."""
import torch

a = torch.tensor(1.0, requires_grad=True)
a_ = a.clone()
y = a**2
z = a ** 2+a_ * 3
y.backward()
print(a.grad)
z.backward()
print(a_.grad)
print(a.grad)
