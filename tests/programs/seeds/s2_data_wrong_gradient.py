"""Writing zeros through .data: backward reads the zeros, and x.grad is 0 where 2 is right. No error."""
import torch

x = torch.tensor([1.], requires_grad = True)
y = torch.tensor([1.], requires_grad = True)
z = x*x + y
x_copy = x.data
x_copy.zero_()
z.backward()
print(x.grad)
print(y.grad)
