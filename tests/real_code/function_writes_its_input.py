# What happens: a Function scales its input in place and gives it back without mark_dirty.
# Reported: pytorch/pytorch#30454
# Call: check_gradients(step, net)
# Says: NOT the slope
import torch
from torch import nn


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x *= 2.0
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2.0


net = nn.Linear(3, 2)
x = torch.randn(4, 3)


def step():
    y = net(x)
    Scale.apply(y)
    return (y * y).mean()
