""".grad takes the strides of its leaf if that is dense, and never is the gradient that came in."""
import torch

x = torch.ones(2, 3).t().requires_grad_()
x.sum().backward()
print(x.stride(), x.grad.stride())
y = torch.ones(2, 6)[:, ::2].requires_grad_()
y.sum().backward()
print(y.stride(), y.grad.stride())
g = torch.ones(2)
z = torch.zeros(2, requires_grad=True)
z.backward(g)
print(z.grad.data_ptr() == g.data_ptr())
