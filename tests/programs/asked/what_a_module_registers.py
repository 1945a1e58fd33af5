"""What counts as a parameter, what survives an assignment, what a module is not."""

import torch
import torch.nn as nn
import copy
m = nn.Linear(1, 1)
sorted(k for k in vars(m))
m2 = copy.deepcopy(m)
m2.weight is m.weight
copy.copy(m).weight is m.weight
class Parent(nn.Module):
    def __init__(self):
        super().__init__()
        self.children_list = [nn.Linear(1, 1)]
        self.child = nn.Linear(1, 1)
        self.table = {"a": nn.Linear(1, 1)}
        self.t = torch.ones(1)
        self.n = 3
p = Parent()
len(list(p.parameters()))
list(p.state_dict())
p.child.parent = p
del p.child.parent
p.t.requires_grad
p.double().t.dtype
class S(nn.Module):
    def __init__(self):
        nn.Module.__init__(self)
        self.l = nn.Linear(1, 1)
    def forward(self, x):
        return self.l(x)
S()
class NoInit(nn.Module):
    def __init__(self):
        self.a = 1
n = NoInit()
n.a
n.l = nn.Linear(1, 1)
n(1)
list(n.parameters())
n.state_dict()
class Fn(nn.Module):
    forward = lambda self, x: x + 1
Fn()(1)
class Nested(nn.Module):
    class Inner(nn.Module):
        def forward(self, x):
            return x
    def __init__(self):
        super().__init__()
        self.i = Nested.Inner()
Nested()
isinstance(m, nn.Module), issubclass(nn.Linear, nn.Module), callable(m)
nn.Linear(1, 1) == nn.Linear(1, 1)
len(nn.Linear(1, 1))
nn.Linear(1, 1)[0]
for q in nn.Linear(1, 1): pass
bool(nn.Linear(1, 1))
bool(nn.Sequential())
hasattr(m, "weights"), getattr(m, "weights", None)
m.weights
m.forward(1)
m.foo = 3
m.foo, m
m.foo = nn.ReLU()
m
m.foo = torch.ones(1)
m.foo = None
m
m.weight = None
m.weight
m
m(torch.ones(1))
l = nn.Linear(2, 2)
l.weight.data = torch.zeros(3, 3)
l
l(torch.ones(1, 3))
l.in_features = 7
l
l.bias = None
l
l(torch.ones(1, 3))
l.weight[0, 0] = 1
l.weight.requires_grad = False
l.weight[0, 0] = 1
l.weight
l.bias = torch.ones(3)
l.bias
l.named_parameters
[type(x).__name__ for x in l.children()]
seq = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
seq.weight
seq[0].weight.shape, seq[0].bias.shape
seq.add_module("last", nn.Linear(2, 1))
seq
seq.last
seq[2] is seq.last
seq.named_children
dict(seq.named_children())
seq.zero
setattr(seq, "0", nn.Linear(1, 3))
seq
seq(torch.ones(1, 1))
getattr(seq, "0").out_features
seq.apply(lambda m: m.reset_parameters() if hasattr(m, "reset_parameters") else None) is seq
for name, p in seq.named_parameters():
    print(name, tuple(p.shape), p.requires_grad)
print({n: p.numel() for n, p in seq.named_parameters()})
total = sum(p.numel() for p in seq.parameters()); total
