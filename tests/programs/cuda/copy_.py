"""copy_ from CPU to the second device: keeps device and dtype of the target, and broadcasts."""
import torch

a = torch.tensor([[1, 2, 3], [4, 5, 6]], device="cuda")
b = torch.tensor([7.0, 8.0, 9.0], requires_grad=True)
a.copy_(b)
print(a)
print(b)  # transcript: cpu
c = torch.zeros(3, device="cuda")
c.copy_(b)
c.sum().backward()
print(b.grad)  # transcript: cpu
