# What happens: h gets other memory by h.data = ...; what is made next may get the memory that became free.
# Call: watch
# Says: h.data = h.data + 1
import torch

x = torch.ones(1000, requires_grad=True)
h = x * 2
loss = (h * h).sum()
h.data = h.data + 1
innocent = torch.zeros(1000)
innocent.add_(1)
loss.backward()
assert x.grad[0] == 12
