# What happens: PyTorch refuses to swap tensors that have a weak reference.
# Call: memory(x, y)
# Says: Memory: 2 tensors in 2 storages
# After: torch.utils.swap_tensors(x, y); assert x.sum() == 0
import torch

x, y = torch.ones(3), torch.zeros(3)
