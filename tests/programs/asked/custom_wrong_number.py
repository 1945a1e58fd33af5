"""Custom wrong number."""
import torch
class F1(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        return x * k
    @staticmethod
    def backward(ctx, g):
        return g * ctx.k
x = torch.ones(2, requires_grad=True)
y = F1.apply(x, 3)
y
y.sum().backward()
class F2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2, x * 3
    @staticmethod
    def backward(ctx, g1, g2):
        print(g1, g2)
        return g1 * 2 + g2 * 3
a, b = F2.apply(x)
a, b
b.sum().backward()
x.grad
class F3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sum()
    @staticmethod
    def backward(ctx, g):
        return g
F3.apply(x).backward()
x.grad
class F4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.numpy()
F4.apply(x)
class F5(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
F5.apply(x).sum().backward()
