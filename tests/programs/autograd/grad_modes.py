"""no_grad, enable_grad, set_grad_enabled and inference_mode around blocks, functions, generators, threads."""
import threading

import torch

on = torch.is_grad_enabled
x = torch.tensor([1., 2.], requires_grad=True)
with torch.no_grad() as c:
    print(c, on(), (x * 2).requires_grad)
with torch.set_grad_enabled(False) as c:
    print(c, on())
    with torch.enable_grad():
        print(on())
on()

@torch.no_grad()
def f(a, *, k=1):
    "Double."
    return a * 2, on(), k

print(f(x), f.__name__, f.__doc__)

@torch.no_grad
def f(a):
    return a * 2, on()

f(x)

@torch.set_grad_enabled(False)
def f(a):
    return on()

print(on(), f(x), on())

@torch.inference_mode
def f(a):
    return on(), torch.is_inference_mode_enabled(), (a * 2).is_inference()

f(x)

@torch.inference_mode(False)
def f(a):
    return on(), torch.is_inference_mode_enabled(), (a * 2).is_inference()

with torch.inference_mode():
    print(f(x))
torch.set_grad_enabled()
torch.set_grad_enabled(1)
mode = torch.set_grad_enabled(False)
print(mode, on())
mode = torch.set_grad_enabled(True)

@torch.no_grad()
def numbers():
    print("in", on())
    got = yield 1
    print("in", on(), got)
    try:
        yield 2
    except ValueError:
        print("caught", on())
        yield 3
    return "end"

g = numbers()
print(next(g), on())
print(g.send("sent"), on())
print(g.throw(ValueError()), on())
next(g)
list(numbers())

@torch.no_grad()
class Made:
    def __init__(self):
        print("init", on())
    def method(self):
        return on()

Made().method()
with torch.no_grad():
    raise ValueError("out")
on()
same = torch.no_grad()
with same:
    with same:
        print(on())
    print(on())
on()
mode = torch.set_grad_enabled(True)
with torch.inference_mode():
    thread = threading.Thread(target=lambda: print("thread", on(), torch.is_inference_mode_enabled()))
    thread.start()
    thread.join()
    print(on(), torch.is_inference_mode_enabled())
    with torch.enable_grad():
        print(on(), torch.is_inference_mode_enabled(), (x * 2).requires_grad)
    with torch.inference_mode(False):
        print(on(), torch.is_inference_mode_enabled(), x * 2)
with torch.no_grad():
    print(torch.ones(2, requires_grad=True), torch.ones(2).requires_grad_())
