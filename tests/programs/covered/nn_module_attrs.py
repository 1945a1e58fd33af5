"""What may be registered in a Module, and under which names."""
import torch

from torch import nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(1, 1)
        self.register_buffer("b", torch.zeros(2))
        self.register_buffer("c", torch.ones(1), persistent=False)
        self.register_parameter("p", None)
        self.w = nn.Parameter(torch.ones(1))
        self.lst = nn.ModuleList([nn.ReLU(), nn.Tanh()])
        self.d = nn.ModuleDict({"x": nn.Sigmoid()})
        self.pl = nn.ParameterList([torch.ones(1)]) if hasattr(nn, "ParameterList") else None

m = M()
m
[n for n, _ in m.named_parameters()], [n for n, _ in m.named_buffers()], [n for n, _ in m.named_modules()], [n for n, _ in m.named_children()]
list(m.state_dict())
m(1)
m.register_buffer("b", torch.ones(1))
m.register_buffer("a.b", torch.ones(1))
m.register_buffer("", torch.ones(1))
m.register_buffer("z", 3)
m.register_buffer("a", torch.ones(1))
m.register_parameter("w2", torch.ones(1))
m.register_parameter("w2", nn.Parameter(torch.ones(1)) * 2)
m.add_module("q", 3)
m.add_module("q.r", nn.ReLU())
m.add_module("w", nn.ReLU())
m.a = 3
m.a = None
m
del m.b
m.b
m.get_parameter("w"), m.get_submodule("lst.0"), m.get_buffer("c")
m.get_parameter("nope")
m.get_submodule("lst.7")
m.get_buffer("w")
class Bad(nn.Module):
    def __init__(self):
        self.a = nn.Linear(1, 1)

Bad()
class Bad2(nn.Module):
    def __init__(self):
        self.a = nn.Parameter(torch.ones(1))

Bad2()
m.w.data.fill_(5)
m.w
nn.Module()(1)
nn.Module(3)
m.nope
len(m.lst), m.lst[0], m.lst[-1], m.d["x"], "x" in m.d
m.lst[5]
m.lst.append(nn.ReLU())
dir(m)[-1] is None
m.eval().training, m.lst[0].training, m.train().lst[0].training
m.train("x")
m.apply(lambda k: print(type(k).__name__)) is m
m.zero_grad()
m.to(torch.float64).w.dtype, m.half().w.dtype, m.float().w.dtype
m.to(torch.int64)
m.type(torch.double).w.dtype
m.cpu() is m
m._get_name()
