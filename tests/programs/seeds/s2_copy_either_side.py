"""The target's history counts as well: a tracked target keeps requires_grad with a plain source, and gets no gradient."""
import torch

x = torch.tensor([1., 2.], requires_grad=True)
z = x * 2
z.copy_(torch.tensor([5., 6.]))
print(z)
print(z.requires_grad)
z.sum().backward()
print(x.grad)
