"""Modes in generators, coroutines, decorators, threads and inside Functions."""
import torch, threading
@torch.no_grad()
def gen():
    for i in range(3):
        print(torch.is_grad_enabled())
        r = yield i
        print('got', r, torch.is_grad_enabled())
    return 'done'
with torch.enable_grad():
    g = gen()
    print(next(g), torch.is_grad_enabled())
    print(g.send('a'), torch.is_grad_enabled())
    g.close()
class E1(Exception): pass
@torch.no_grad()
def gen2():
    while True:
        try:
            yield torch.is_grad_enabled()
        except E1:
            print('caught', torch.is_grad_enabled())
        except GeneratorExit:
            print('exit', torch.is_grad_enabled())
            raise
g = gen2()
next(g)
g.throw(E1)
torch.is_grad_enabled()
g.close()
@torch.no_grad()
def gen3():
    try:
        yield 1
    except E1:
        raise ValueError('second') from None
g = gen3()
next(g)
g.throw(E1)
torch.is_grad_enabled()
def outer():
    r = yield from gen()
    print('result', r)
list(outer())
@torch.enable_grad
def dbl(x):
    return x * 2
with torch.no_grad():
    z = dbl(torch.ones(1, requires_grad=True))
z.requires_grad
@torch.no_grad
def dbl2(x):
    "doc"
    return x * 2
dbl2(torch.ones(1, requires_grad=True)), dbl2.__name__, dbl2.__doc__
@torch.set_grad_enabled(False)
def f(x):
    return x * 2
torch.is_grad_enabled()
f(torch.ones(1, requires_grad=True)).requires_grad
s = torch.set_grad_enabled(False)
torch.is_grad_enabled()
ff = s(lambda x: x * 2)
torch.is_grad_enabled()
ff(torch.ones(1, requires_grad=True)).requires_grad
with torch.set_grad_enabled(False):
    torch.set_grad_enabled(True)
    print(torch.is_grad_enabled())
torch.is_grad_enabled()
s
str(torch.set_grad_enabled(True)), repr(torch.set_grad_enabled(mode=True))
torch.set_grad_enabled(1)
torch.set_grad_enabled()
torch.set_grad_enabled(None)
@torch.no_grad()
class Foo:
    def __init__(self):
        print('init', torch.is_grad_enabled())
    def m(self):
        print('m', torch.is_grad_enabled())
Foo().m()
class Bar:
    @torch.no_grad()
    def m(self):
        return torch.is_grad_enabled()
    @staticmethod
    @torch.no_grad()
    def s():
        return torch.is_grad_enabled()
    @torch.no_grad()
    async def a(self):
        return torch.is_grad_enabled()
Bar().m(), Bar.s()
import asyncio
asyncio.run(Bar().a())
@torch.enable_grad()
def er(d):
    print(torch.is_grad_enabled())
    if d:
        nr(d - 1)
        print(torch.is_grad_enabled())
@torch.no_grad()
def nr(d):
    print(torch.is_grad_enabled())
    if d:
        er(d - 1)
        print(torch.is_grad_enabled())
er(2)
def work(out):
    out.append(torch.is_grad_enabled())
    out.append((torch.ones(1, requires_grad=True) * 2).requires_grad)
with torch.no_grad():
    out = []
    t = threading.Thread(target=work, args=(out,))
    t.start()
    t.join()
out
with torch.no_grad():
    try:
        raise KeyError('x')
    except KeyError:
        print(torch.is_grad_enabled())
torch.is_grad_enabled()
n = torch.no_grad()
with n:
    with n:
        print(torch.is_grad_enabled())
    print(torch.is_grad_enabled())
torch.is_grad_enabled()
n.__enter__()
torch.is_grad_enabled()
n.__exit__(None, None, None)
torch.is_grad_enabled()
torch.no_grad().clone()
torch.autograd.grad_mode.no_grad is torch.no_grad
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    y = x.view(2)
    y.requires_grad, y.is_leaf, y._is_view()
    z = torch.ones(2, requires_grad=True)
    w = x * 2
    w.requires_grad_()
    p = torch.nn.Parameter(torch.ones(2))
    y.mul_(2)
x, z, w, p.requires_grad
w.sum().backward()
w.grad
with torch.no_grad():
    x.backward(torch.ones(2))
    torch.autograd.grad((x * 2).sum(), x)
x.grad
with torch.enable_grad(), torch.no_grad():
    torch.is_grad_enabled()
torch.is_grad_enabled()
torch.set_grad_enabled(True)
class My(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        print('fw', torch.is_grad_enabled())
        with torch.enable_grad():
            print((x * 2).requires_grad)
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        print('bw', torch.is_grad_enabled(), g.requires_grad)
        o = torch.is_grad_enabled()
        with torch.enable_grad():
            f = torch.ones(g.size(), requires_grad=True)
            gr, = torch.autograd.grad(f ** 3, f, grad_outputs=g)
        print(torch.is_grad_enabled() == o)
        return gr
i = torch.ones(3, requires_grad=True)
My.apply(i).sum().backward()
My.apply(i).sum().backward(create_graph=True)
with torch.no_grad():
    My.apply(i)
i.grad = None
torch.autograd.grad(My.apply(i).sum(), i, create_graph=True)
