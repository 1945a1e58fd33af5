"""What a graph keeps alive and what not; what goes with copies of tensors and nodes."""
import copy
import gc
import pickle
import weakref
import torch
from torch.autograd import Function

gc.disable()
x = torch.ones(3, requires_grad=True)
class Told:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print(self.name, "is gone")
    def __call__(self, *gradients):
        pass
def written_view():
    y = x.clone()
    y.grad_fn.register_hook(Told("the hook"))
    y.view(3).exp_()
written_view()
class Doubles(Function):
    @staticmethod
    def forward(ctx, t):
        ctx.note = Told("the note")
        t.mul_(2)
        ctx.mark_dirty(t)
        ctx.save_for_backward(t)
        return t
    @staticmethod
    def backward(ctx, g):
        return g * 2
def dirty_view():
    v = x.clone().view(3)
    Doubles.apply(v)
dirty_view()
y = x * 2
y.retain_grad()
z, seen = y * 3, weakref.ref(y)
del y
seen() is None
z.sum().backward()
gc.enable()
w = x * 2
w.grad_fn.metadata["told"] = Told("the metadata")
del w
copy.deepcopy((x * 2).grad_fn)
copy.copy((x * 2).grad_fn)
pickle.dumps((x * 2).grad_fn)
class Silent:
    def __repr__(self):
        return "a hook"
    def __call__(self, g):
        return g * 10
h = x.register_hook(Silent())
c = pickle.loads(pickle.dumps(x))
c.sum().backward()
c.grad
d = copy.copy(x)
d.sum().backward()
d.grad
e = copy.deepcopy(x)
e.sum().backward()
e.grad
f = x.detach()
f.requires_grad_().sum().backward()
f.grad
