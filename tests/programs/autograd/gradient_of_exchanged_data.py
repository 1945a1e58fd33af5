"""A tensor whose `.data` got another shape: the gradient that backward starts with is checked first, by no node."""

import torch

x = torch.tensor([[1.0, -2.0, 3.0]], requires_grad=True)
for make in (lambda: x * 1, lambda: x.exp() * torch.ones(())):
    y = make()
    y.data = torch.zeros(())
    for start in (None, torch.tensor(1.0), torch.ones(3), torch.ones(1, 3)):
        try:
            print(y.backward(start), x.grad)
        except RuntimeError as error:
            print(error)
