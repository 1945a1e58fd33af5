"""Custom relu."""
import torch
class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)
    @staticmethod
    def backward(ctx, grad_output):
        input, = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input
relu = MyReLU.apply
x = torch.tensor([-1., 0., 2.], requires_grad=True)
y = relu(x)
y
y.grad_fn.name()
y.sum().backward()
x.grad
MyReLU()(x)
MyReLU.forward(None, x)
relu(x.detach())
torch.autograd.gradcheck(MyReLU.apply, torch.tensor([-1., 2.], dtype=torch.double, requires_grad=True))
