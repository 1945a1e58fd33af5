# What happens: a kernel writes into its input without telling PyTorch, whose version counter stays.
# Reported: linkedin/Liger-Kernel#272
# Call: watch
# Says: h was changed after line 10 saved it. PyTorch raises no error
import ctypes

import torch

x = torch.ones(3, requires_grad=True)
h = x.exp()
loss = h.sum()
ctypes.memset(h.data_ptr(), 0, h.nbytes)
loss.backward()
assert not x.grad.any()
