"""What is computed from .data has no way back."""
import torch

x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
w = x * 2
y = w.data * 3
print(y.requires_grad, y.grad_fn)
y.sum().backward()
y = w.detach() * 3
y.sum().backward()
print(x.grad)
