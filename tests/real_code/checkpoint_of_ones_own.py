# What happens: a checkpoint written by hand runs its block again with other random numbers, so dropout's masks differ.
# Reported: openai/guided-diffusion#167
# Call: check_gradients(step, block)
# Says: NOT the slope
import torch


class Checkpoint(torch.autograd.Function):
    @staticmethod
    def forward(ctx, run, count, *args):
        ctx.run, ctx.inputs, ctx.weights = run, args[:count], args[count:]
        with torch.no_grad():
            return run(*args[:count])

    @staticmethod
    def backward(ctx, grad):
        inputs = [x.detach().requires_grad_() for x in ctx.inputs]
        with torch.enable_grad():
            out = ctx.run(*inputs)
        return None, None, *torch.autograd.grad(out, [*inputs, *ctx.weights], grad)


block = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Dropout(0.5))
x = torch.randn(4, 8, requires_grad=True)


def step():
    return Checkpoint.apply(block, 1, x, *block.parameters()).square().sum()


torch.manual_seed(1)
block(x).square().sum().backward()
right = block[0].weight.grad.clone()
block.zero_grad()
torch.manual_seed(1)
step().backward()
assert not torch.allclose(block[0].weight.grad, right)
