"""clone().detach() and detach().clone(): own memory, no gradient, the same result in both orders."""
import torch

a = torch.tensor([1.0, 2.0], requires_grad=True)
b = a.clone().detach()
c = a.detach().clone()
print(b)
print(c)
print(b.requires_grad, c.requires_grad)
print(b.grad_fn, c.grad_fn)
b += 10
c += 100
print(a)
print(b)
print(c)
