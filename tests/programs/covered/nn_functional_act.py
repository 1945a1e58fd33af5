"""The activations, their gradients and nodes."""
import torch

import torch.nn.functional as F
x = torch.tensor([-2., -0.5, 0., 0.5, 2.], requires_grad=True)

F.softmax(x, 0), F.log_softmax(x, 0), F.softmax(x)
F.softmax(x, 1)
F.softmax(torch.tensor([1, 2]), 0)
F.softmax(torch.tensor([1, 2]), 0, dtype=torch.float32), torch.softmax(x, 0, torch.float64).dtype
F.relu(x, inplace=True)
F.relu(torch.tensor([-1, 2])), torch.relu_(torch.tensor([-1.])), F.softmax(torch.empty(0, 3), 1).shape
