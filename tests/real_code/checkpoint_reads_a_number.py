# What happens: a checkpointed function reads a scale that is updated before backward runs it again.
# Reported: pytorch/pytorch#84864
# Call: watch
# Says: checkpoint gives ExpBackward0 other values than it saved
import torch
from torch.utils.checkpoint import checkpoint

x, scale = torch.ones(3, requires_grad=True), torch.tensor(1.0)
loss = checkpoint(lambda v: (v * scale).exp(), x, use_reentrant=False).sum()
scale.fill_(2)
loss.backward()
assert not torch.allclose(x.grad, torch.ones(3).exp())
