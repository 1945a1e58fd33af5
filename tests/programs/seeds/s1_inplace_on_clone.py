"""The same four on a clone that requires grad: two raise, one is recorded, one runs and its backward raises."""
import torch

a = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
c = a.clone()
c.resize_(3)
c.resize_as_(torch.zeros(2, 2))
c.transpose_(0, 1)
print(c)
c.sum().backward()
print(a.grad)
c = a.clone()
c.set_(torch.tensor([9.0]))
c.sum().backward()
