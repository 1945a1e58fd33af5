"""What may be differentiated only once raises before anything else runs that is ready, leaves further on excepted."""

import torch
from torch.autograd.function import once_differentiable


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    @once_differentiable
    def backward(ctx, g):
        return g * 3


for make in (lambda g, x, z: g + x, lambda g, x, z: x + g, lambda g, x, z: z * 2 + (g + z), lambda g, x, z: g * (z * 2)):
    x, z = torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0, 4.0], requires_grad=True)
    y = Scale.apply(x)
    (g,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    try:
        make(g, x, z).sum().backward()
    except RuntimeError as error:
        print(error, x.grad, z.grad)
