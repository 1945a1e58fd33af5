"""After requires_grad_() a detached tensor has a gradient of its own; the two have nothing to do with each other."""
import torch

a = torch.tensor(1.0, requires_grad=True)
y = a ** 2
a_ = a.detach()
print(a_.grad)
a_.requires_grad_()
z = a_ * 3
y.backward()
z.backward()
print(a.grad)
print(a_.grad)
