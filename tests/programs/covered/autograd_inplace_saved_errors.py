"""Which operations miss a tensor that was written to after they saved it."""
import torch

a = torch.ones(2, requires_grad=True)
def t(f):
    try:
        f().sum().backward()
        print("ok")
    except RuntimeError as e:
        print(str(e).partition("Hint")[0])

b = a * 1
def f1():
    y = b.exp()
    y.add_(1)
    return y

t(f1)
def f2():
    x = a * 1
    y = x.sin()
    x.add_(1)
    return y

t(f2)
def f3():
    x = a * 1
    y = x ** 3
    x[0] = 2
    return y

t(f3)
def f4():
    x = a * 1
    y = x.sigmoid()
    y[0].zero_()
    return y

t(f4)
def f5():
    x = a * 1
    y = torch.relu(x)
    y.mul_(2)
    return y

t(f5)
def f6():
    x = a * 1
    y = x.view(1, 2) @ x
    x.sub_(1)
    return y

t(f6)
def f7():
    x = a * 1
    y = x.softmax(0)
    y *= 2
    return y

t(f7)
def f8():
    x = a * 1
    y = x.sum() + x.mean()
    x.zero_()
    return y

t(f8)
def f9():
    x = a * 1
    y = torch.where(x > 0, x, x * 2)
    x.zero_()
    return y

t(f9)
def f10():
    x = a * 1
    y = x.max()
    x.add_(1)
    return y

t(f10)
