# What happens: a Function keeps an intermediate result on ctx: the second derivative leaves it out.
# Reported: pytorch/pytorch#58509
# Call: check_gradients(penalty, weights)
# Says: NOT the slope
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.double = x * 2
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.double


weights = torch.nn.Parameter(torch.randn(3))


def penalty():
    (grad,) = torch.autograd.grad(
        (Square.apply(weights) * weights).sum(), weights, create_graph=True
    )
    return grad.square().sum()


penalty().backward()
x = weights.detach()
assert not torch.allclose(weights.grad, 2 * (3 * x**2) * 6 * x)
