""".data has no gradient information, not even after backward."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
y.sum().backward()
print(x.grad)
print(x.data.grad, x.data.grad_fn, x.data.requires_grad)
print(y.data.grad, y.data.grad_fn, y.data.requires_grad)
print(x.detach().grad, x.detach().grad_fn, x.detach().requires_grad)
