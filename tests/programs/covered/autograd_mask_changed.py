"""The type that the error names, of a saved tensor that was changed: masks have another kind of name."""
import torch

x = torch.ones(2, requires_grad=True)
mask = torch.tensor([True, False])
y = x * mask
mask.fill_(True)
y.sum().backward()
y = x.masked_fill(mask, 0)
mask.zero_()
y.sum().backward()
whole = torch.tensor([1, 2])
y = x * whole
whole += 1
y.sum().backward()
