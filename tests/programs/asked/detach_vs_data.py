"""What is the difference between .data and .detach()?"""
import torch
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
out
c = out.data
c
c.zero_()
out
out.sum().backward()
a.grad
a = torch.tensor([1., 2., 3.], requires_grad=True)
out = a.sigmoid()
c = out.detach()
c.zero_()
out
out.sum().backward()
out._version, c._version
