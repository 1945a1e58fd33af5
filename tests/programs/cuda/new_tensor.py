"""new_tensor takes dtype and device from its receiver, unless told."""
import torch

a = torch.tensor([1.5, 2.5], device="cuda")
a.new_tensor([1, 2, 3])
a.new_tensor([1, 2, 3], device="cpu")  # transcript: cpu
b = torch.tensor([1, 2])
b.new_tensor([3, 4], device="cuda", dtype=torch.float64)
torch.empty_like(a).copy_(a)
