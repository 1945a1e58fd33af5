# What happens: the result of relu is divided in place, and relu needs it for its gradient.
# Reported: bayesiains/nflows#89
# Call: watch
# Says: hidden was written to by line 9 after line 8 saved it. PyTorch raises an error
import torch

net = torch.nn.Linear(3, 2)
hidden = torch.relu(net(torch.randn(4, 3)))
hidden /= 2
try:
    hidden.sum().backward()
except RuntimeError as error:
    assert "modified by an inplace operation" in str(error)
