"""What a hook on a tensor may return, when it runs, how it is removed."""
import torch

def fresh():
    global x, y, z
    x = torch.tensor([1., 2.], requires_grad=True)
    y = x * 2
    z = (y * y).sum()

def shape(g):
    return g.sum()

def double(g):
    return g.double()

def hooked(which, hook):
    fresh()
    {"y": y, "x": x}[which].register_hook(hook)
    z.backward()
    return x.grad

hooked("y", shape)
hooked("x", shape)
hooked("y", double)
hooked("x", lambda g: g.double().sum())
hooked("y", lambda g: 3)
hooked("y", lambda g: (g,))
hooked("y", lambda g: torch.ones(1, 2))
hooked("y", lambda g: g * 2)
hooked("x", lambda g: g * 2)
hooked("y", lambda: 1)
hooked("y", print)
fresh()
handle = y.register_hook(lambda g: g * 2)
handle.remove()
handle.remove()
z.backward()
x.grad
fresh()
with y.register_hook(lambda g: g * 2):
    z.backward(retain_graph=True)
    print(x.grad)
z.backward()
x.grad
fresh()

def once(g):
    print("once")
    handle.remove()

def adder(g):
    print("adder")
    y.register_hook(lambda g: print("added"))

handle = y.register_hook(once)
h = y.register_hook(adder)
z.backward(retain_graph=True)
z.backward()
torch.ones(2).register_hook(print)
y.register_hook()
fresh()
h = y.register_hook(lambda g: {}["k"])
z.backward()
fresh()

def inner(g):
    with torch.enable_grad():
        q = x.detach().requires_grad_()
        (q * q).sum().backward()
        print("inner", q.grad)

h = y.register_hook(inner)
z.backward()
x.grad
