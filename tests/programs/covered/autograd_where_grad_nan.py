"""nan in the gradient of a branch that was not chosen."""
import torch

x = torch.tensor([0., 1.], requires_grad=True)
y = torch.where(x > 0, x.sqrt(), torch.zeros(2))
y.sum().backward()
x.grad
x.grad = None
torch.where(x > 0, x, x.detach() * 0).log().sum().backward()
x.grad
(x / x).sum().backward()
x.grad
x.grad = None
x.norm().backward()
x.grad
x.grad = None
torch.atan2(x, x).sum().backward()
x.grad
