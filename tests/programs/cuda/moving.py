"""A move to the other device is a copy, and a node of the graph."""
import torch

b = torch.tensor([1.0, 2.0], requires_grad=True)
c = b.to("cuda")
print(c.grad_fn.name())  # transcript: on a GPU ToCopyBackward0
print(c is b)  # transcript: on a GPU False
print(c.device, b.device)  # transcript: on a GPU cuda:0 cpu
(c * 3).sum().backward()
print(b.grad)  # transcript: cpu
b + torch.ones(2, device="cuda")  # transcript: on a GPU RuntimeError
torch.tensor(2.0) * torch.ones(2, device="cuda")
