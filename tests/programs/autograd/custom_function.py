"""A Function of one's own: what ctx holds, what grad_fn shows of it, and double backward through it."""
import torch

class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, times=1):
        print("forward", ctx.needs_input_grad, ctx.saved_tensors, torch.is_grad_enabled(), x.requires_grad)
        y = x.exp() * times
        ctx.save_for_backward(y)
        ctx.times, ctx.shape = times, x.shape
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        print("backward", torch.is_grad_enabled(), y, ctx.times, ctx.shape)
        return grad * y, None

x = torch.tensor([0., 1.], requires_grad=True)
y = Exp.apply(x, 2)
y
print(y.grad_fn.name(), type(y.grad_fn), y.grad_fn.next_functions[0][0].name(), y.grad_fn.times)
y.grad_fn.saved_tensors
y.grad_fn.needs_input_grad
y.sum().backward(retain_graph=True)
x.grad
g, = torch.autograd.grad(y.sum(), x, create_graph=True)
g
torch.autograd.grad(g.sum(), x)
y.grad_fn.saved_tensors
y.sum().backward()
with torch.no_grad():
    print(Exp.apply(x))
print(Exp.apply(x.detach()))
print(Exp.apply(x, times=3))
w = Exp.apply(x)
w.mul_(2)
w.sum().backward()
Exp.apply()
Exp.apply(x, 1, 2)
Exp()(x)
isinstance(y.grad_fn, torch.autograd.graph.Node)
