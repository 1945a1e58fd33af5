"""Functions and layers that are small, and what they refuse."""

import numpy as np
import torch
from torch import nn

torch.get_device(torch.ones(1))
torch.get_device(3)
torch.get_device()
nn.Softmax2d()
nn.Softmax2d()(torch.ones(2, 2))
nn.Softmax2d()(torch.arange(8.0).view(2, 2, 2))
nn.Softmax2d(1)
a = np.arange(3)
a.flags.writeable = False
torch.asarray(a, copy=True)
nn.init._calculate_correct_fan(torch.empty(3, 4), "FAN_IN")
nn.init._calculate_correct_fan(torch.empty(3, 4), "x")
