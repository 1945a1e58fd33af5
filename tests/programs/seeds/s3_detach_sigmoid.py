"""Zeros written through out.detach(): backward raises, and says which tensor and which versions."""
import torch

a = torch.tensor([1,2,3.], requires_grad =True)
out = a.sigmoid()
c = out.detach()
c.zero_()
out
out.sum().backward()
a.grad
