"""Buffers."""
import torch
import torch.nn as nn
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.zeros(2))
        self.register_buffer("tmp", torch.ones(1), persistent=False)
        self.register_buffer("none", None)
        self.register_parameter("bias", None)
    def forward(self, x):
        self.mean = 0.9 * self.mean + 0.1 * x.mean(0)
        return x - self.mean
m = M()
m.state_dict()
m(torch.ones(3, 2))
m.mean
list(m.buffers())
m.double().mean.dtype
m.half().mean
m.float()
m.to(torch.float64).mean
m.mean = 3
m.register_buffer("mean", torch.ones(1))
m.register_buffer("a.b", torch.ones(1))
m.register_buffer("", torch.ones(1))
m.register_buffer("x", 3)
m.register_parameter("y", torch.ones(1))
m.register_parameter("y", torch.ones(1, requires_grad=True) * 2)
x = torch.ones(2, 2, requires_grad=True)
m2 = M()
m2(x).sum().backward()
m2(x).sum().backward()
m2.mean
m.to("cpu").mean
m.to(torch.int64)
m.bias
del m.mean
m.mean
