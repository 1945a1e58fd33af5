# What happens: a Function keeps all it needs on ctx and has saved nothing, so a second backward runs.
# Call: graph(y)
# Says: KeepBackward
# After: assert "another backward will raise" not in said; loss.backward()
import torch


class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.twice = x.detach() * 2
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.twice


x = torch.rand(3, requires_grad=True)
y = Keep.apply(x)
loss = y.sum()
loss.backward()
