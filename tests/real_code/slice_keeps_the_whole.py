# What happens: a few values of a large tensor are kept, and with them all of its memory.
# Reported: pytorch/pytorch#40157
# Call: memory(kept)
# Says: 10,000 cells of float32, 40,000 bytes
import torch

kept = [torch.randn(10_000)[:2]]
assert kept[0].untyped_storage().nbytes() == 40_000
