"""Losses of two dtypes: in which the result comes, in which the gradients, and what the Huber loss refuses."""

import torch
import torch.nn.functional as F

for loss in (F.mse_loss, F.l1_loss):
    for a, b in ((torch.float32, torch.float64), (torch.float32, torch.float16), (torch.float16, torch.float32)):
        x, y = torch.tensor([1.0, 3.0], dtype=a, requires_grad=True), torch.tensor([2.0, 2.5], dtype=b)
        try:
            made = loss(x, y, reduction="none")
            print(loss.__name__, made)
            print(torch.autograd.grad((made * made).sum(), x, create_graph=True)[0])
        except RuntimeError as error:
            print(error)
