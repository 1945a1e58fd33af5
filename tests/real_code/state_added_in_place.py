# What happens: a running sum is updated in place at each position, and products with it were saved.
# Reported: idiap/fast-transformers#10
# Call: watch
# Says: total was written to by line 10 after line 11 saved it. PyTorch raises an error
import torch

x = torch.randn(3, 2, requires_grad=True)
total, outs = torch.zeros(2), []
for row in x:
    total += row
    outs.append(row * total)
try:
    torch.stack(outs).sum().backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
