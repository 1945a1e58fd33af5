"""Custom inplace function."""
import torch
class Square_(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x.clone())
        x.mul_(x)
        ctx.mark_dirty(x)
        return x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 2 * x * g
a = torch.tensor([2., 3.], requires_grad=True)
Square_.apply(a)
b = a * 1
c = Square_.apply(b)
c is b
c
c.sum().backward()
a.grad
class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.x = x
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2
d = Keep.apply(a)
d
class Save(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    @staticmethod
    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y
e = Save.apply(a)
e.add_(1)
e.sum().backward()
e = Save.apply(a)
e.sum().backward()
e.sum().backward()
class NoSuper(torch.autograd.Function):
    def forward(self, x):
        return x
NoSuper.apply(a)
class Inputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y, flag=True):
        print(ctx.needs_input_grad)
        return x + y
    @staticmethod
    def backward(ctx, g):
        return g, None, None
Inputs.apply(a, torch.ones(2), False)
Inputs.apply(a, y=torch.ones(2))
Inputs.apply(a, torch.ones(2)).sum().backward()
a.grad
