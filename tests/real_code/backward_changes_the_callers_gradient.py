# What happens: a backward adds to the gradient in place; it is the tensor that the caller gave to backward.
# Reported: pytorch/pytorch#81417
# Call: steps
# Says: The values of given and grad in backward changed.
import torch


class Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        grad += 1
        return grad


x = torch.rand(3, requires_grad=True)
given = torch.ones(3)
Add.apply(x).backward(given)
assert given.sum() == 6
