"""What a module's attributes take and refuse, and what it finds by dotted names."""

import torch
import torch.nn as nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(torch.ones(2))
        self.register_buffer("run", torch.zeros(1))
        self.lin = nn.Linear(2, 2)
m = M()
m.w = torch.zeros(2)
m.w = 3
m.w = None
print(m.w)
m.w = nn.Parameter(torch.ones(3))
m.lin = torch.zeros(1)
m.lin = "x"
m.lin = None
print(m)
m.run = 4
m.run = "abc"
m.run = None
m.run = torch.ones(2)
print(list(m.named_buffers()))
m.nope
del m.w
m.w
del m.nope
class Early(nn.Module):
    def __init__(self):
        self.w = nn.Parameter(torch.ones(1))
Early()
class Early2(nn.Module):
    def __init__(self):
        self.l = nn.Linear(1, 1)
Early2()
class Early3(nn.Module):
    def __init__(self):
        self.x = 3
        self.register_buffer("b", torch.ones(1))
Early3()
class Early4(nn.Module):
    def __init__(self):
        self.x = 3
        self.register_parameter("b", None)
Early4()
class Early5(nn.Module):
    def __init__(self):
        pass
    def forward(self, x):
        return x
Early5()(torch.ones(1))
print(Early5())
m = M()
m.register_parameter("a.b", None)
m.register_parameter("", None)
m.register_parameter("lin", None)
m.register_parameter("w2", torch.ones(1))
m.register_parameter("w3", torch.ones(1, requires_grad=True) * 2)
m.register_parameter("w3", nn.Parameter(torch.ones(1)))
m.register_parameter(3, None)
m.register_buffer("w", torch.ones(1))
m.register_buffer("c", 3)
m.register_buffer("c.d", None)
m.register_buffer("", None)
m.register_buffer(2, None)
m.register_buffer("np", torch.ones(1), persistent=False)
m.add_module("lin", nn.ReLU())
m.add_module("w", nn.ReLU())
m.add_module("x.y", nn.ReLU())
m.add_module("", nn.ReLU())
m.add_module(3, nn.ReLU())
m.add_module("r", 3)
m.add_module("r", nn.ReLU)
m.add_module("none", None)
print(m)
list(m.state_dict())
sorted(n for n in dir(m) if not n.startswith("_") and n in ("w", "run", "lin", "np", "none"))
hasattr(m, "w"), hasattr(m, "w9")
m.__dict__.keys()
m._parameters.keys(), m._buffers.keys(), m._modules.keys()
nn.Module()(1)
nn.Module().forward(1)
class NoFwd(nn.Module):
    pass
NoFwd()(1)
nn.Module(3)
nn.Module(a=3)
class Sub(nn.Linear):
    def __init__(self):
        super().__init__(2, 2)
        self.weight = torch.zeros(2, 2)
Sub()
m.training = "no"
m.train("yes")
m.train(1)
m.eval().training
m.lin.training
m.get_submodule("lin")
m.get_submodule("nope.x")
m.get_submodule("w")
m.get_parameter("lin.weight").shape
m.get_parameter("lin.nope")
m.get_parameter("run")
m.get_parameter("lin")
m.get_buffer("run")
m.get_buffer("w")
m.get_buffer("lin.weight")
m.get_submodule("")
m.lin
