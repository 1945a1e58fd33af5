# What happens: a Function writes its gradient into what it has saved, which another node has saved, too.
# Reported: linkedin/Liger-Kernel#254
# Call: watch
# Says: was changed by line 17 after line 21 saved it. PyTorch raises no error
import torch


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return x.data.mul_(2).mul_(grad).clone()


x = torch.ones(3, requires_grad=True)
e = x.exp()
Square.apply(e).sum().backward()
assert not torch.allclose(x.grad, 2 * torch.ones(3).exp() ** 2)
