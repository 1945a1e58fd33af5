# What happens: the backward of a Function lacks a factor.
# Reported: pytorch/pytorch#4355
# Call: check_gradients(step, net)
# Says: NOT the slope
import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x.sigmoid()

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * x.sigmoid()


net, x = torch.nn.Linear(3, 2), torch.randn(4, 3)


def step():
    return Swish.apply(net(x)).sum()


assert not torch.autograd.gradcheck(Swish.apply, x.double().requires_grad_(), raise_exception=False)
