"""A second gradient is added into the same .grad object."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
(x * 2).sum().backward()
first = x.grad
print(first, first._version)
(x * 3).sum().backward()
print(x.grad is first, first, first._version)
