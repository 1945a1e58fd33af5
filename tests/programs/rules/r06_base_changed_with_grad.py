"""A plain base, changed in place with an operand that requires grad: views made before require grad from then on."""
import torch

b = torch.zeros(3)
v = b[:2]
g = torch.tensor([1., 2., 3.], requires_grad=True)
print(v.requires_grad)
b.add_(g * 2)
print(v.requires_grad, v.grad_fn.name())
v.sum().backward()
print(g.grad)
