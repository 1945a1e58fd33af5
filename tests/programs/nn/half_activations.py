"""Activations of half tensors: which steps are rounded to half, forward and back."""

import torch
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(4, 3).half().requires_grad_()
x.detach().softmax(0), x.detach().softmax(1), x.detach().log_softmax(0)
for f in (F.silu, F.softplus, F.elu, F.mish, torch.sigmoid, torch.tanh, F.relu, F.leaky_relu, F.hardtanh):
    x.grad = None
    f(x).sum().backward()
    print(f.__name__, x.grad)
for dim in (0, 1):
    x.grad = None
    (x.softmax(dim) * torch.arange(12).view(4, 3).half()).sum().backward()
    print(x.grad)
f = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
(torch.tensor([0.5, 2.0, 3.0]).half() ** f).sum().backward()
f.grad.tolist()
