"""Grad can be implicitly created only for scalar outputs."""
import torch
x = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
y = x * 2
y.backward()
y.backward(torch.ones(2))
y.backward(torch.ones(2, 2))
x.grad
x.grad.zero_()
y = x ** 2
y.backward(torch.tensor([[1., 0.], [0., 1.]]))
x.grad
y = x ** 3
y.backward(gradient=1.0)
y.sum().backward(torch.tensor(2.))
x.grad
y = (x * 2).mean()
y.backward(torch.tensor([1.]))
y.backward(torch.tensor([1., 2.]))
torch.ones(2).backward()
torch.ones(()).backward()
