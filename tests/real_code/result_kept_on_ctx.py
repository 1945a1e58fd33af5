# What happens: a Function keeps its result as an attribute; a write to the result makes the gradient zero.
# Reported: pytorch/pytorch#25340, #5569
# Call: watch
# Says: y was changed after KeepBackward had kept it as ctx.y
import torch


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.clone()
        return ctx.y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y


x = torch.rand(3, requires_grad=True)
y = Keep.apply(x)
y.data.zero_()
y.sum().backward()
assert not x.grad.any()
