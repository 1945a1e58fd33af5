"""What a Function's forward and backward may not return."""
import torch

class Bad(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x + y
    @staticmethod
    def backward(ctx, g):
        return g

x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
Bad.apply(x, y).sum().backward()
class Bad2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1
    @staticmethod
    def backward(ctx, g):
        return g, g

Bad2.apply(x).sum().backward()
class Bad3(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1
    @staticmethod
    def backward(ctx, g):
        return torch.ones(3)

Bad3.apply(x).sum().backward()
class Bad4(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x + 1
    @staticmethod
    def backward(ctx, g):
        return 1.0

Bad4.apply(x).sum().backward()
class Bad5(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return "hello"
    @staticmethod
    def backward(ctx, g):
        return g

Bad5.apply(x)
class Bad6(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone(), 3, "a"
    @staticmethod
    def backward(ctx, *g):
        print(g)
        return g[0]

out = Bad6.apply(x)
out
out[0].sum().backward()
class Bad7(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

Bad7.apply(x).sum().backward()
class Bad8(torch.autograd.Function):
    pass

Bad8.apply(x)
