# What happens: a frozen leaf is multiplied in place by a parameter: it is no leaf any more, and backward raises.
# Call: explain(loss)
# Says: loss.backward() would raise.
import torch

x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
loss = x.sum()
x.requires_grad_(False)
x.mul_(w)
try:
    loss.backward()
except RuntimeError as error:
    assert "moved into the graph interior" in str(error)
