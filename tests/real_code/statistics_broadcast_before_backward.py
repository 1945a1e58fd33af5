# What happens: the buffers of a batch norm are copied from another process between forward and backward.
# Reported: pytorch/pytorch#22095
# Call: watch
# Says: norm.running_mean was written to after line 8 saved it. PyTorch raises an error
import torch

norm = torch.nn.BatchNorm1d(3)
loss = norm(torch.randn(4, 3, requires_grad=True)).square().sum()
with torch.no_grad():
    for buffer in norm.buffers():
        buffer.copy_(buffer.clone())
try:
    loss.backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
