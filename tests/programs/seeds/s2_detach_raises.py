"""The same through detach(): backward sees that a saved value changed, and raises."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x*x + y
x_copy = x.detach()
x_copy.zero_()
z.backward()
print(x.grad)
print(y.grad)
