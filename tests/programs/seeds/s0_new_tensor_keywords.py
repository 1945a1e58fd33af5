"""The options of new_tensor are keyword-only."""
import torch

a = torch.tensor([1.5, 2.5])
a.new_tensor([1, 2], torch.float64)
a.new_tensor([1, 2], dtype=torch.float64)
a.new_tensor([1, 2], dtype=torch.int64, device="cpu", requires_grad=False)
