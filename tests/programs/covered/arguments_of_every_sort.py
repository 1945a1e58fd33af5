# Tolerances, sizes, devices, types and lists that are given in another way than usual.
import torch
import numpy as np
v = torch.ones(2, 3)
torch.isclose(v, v + 1, torch.tensor(1.), torch.tensor(0))
torch.allclose(v, v, torch.tensor(1))
torch.isclose(v, v, torch.tensor([1., 2.]))
v.new([np.int32(3), np.float64(4)])
v.new([3, 4.5])
v.new(3, 1).shape
torch.ones(torch.tensor([2, 1]))
torch.ones(np.array([2, 1]))
torch.ones((2, torch.tensor([1])))
v.int().type(torch.Tensor).dtype
v.type(torch.nn.Parameter)
itself = []
itself.append(itself)
torch.tensor(itself)
itself = [1]
itself.append(itself)
torch.tensor(itself)

torch.device("")
torch.device("CUDA")
torch.device("cuda", "1")
torch.device("cuda", -1)
torch.device("cpu").__reduce__()[1]

x = torch.arange(1, 4)
x.apply_(lambda k: "a")
x.float().apply_(lambda k: "a")
torch.roll(x, 1, dims=None)
torch.repeat_interleave(torch.tensor([1, -1]))
torch.tensor(torch.arange(3.).untyped_storage(), dtype=torch.float32)
torch.zeros(3, dtype=torch.uint8).index_add(0, torch.arange(3), torch.ones(3, dtype=torch.uint8), alpha=-1)
torch.multinomial(torch.ones(0, 5), 1).shape
torch.cat([torch.empty(0), torch.empty(0)], 1)

# one shape for all three
torch.ones(5, 1).addcdiv_(torch.ones(1, 1, 5, 8), torch.ones(7, 1, 1, 8))
x.index_fill_(0, x, 0)
torch.arange(5, out=torch.empty(1).expand(5))
o = torch.empty(3, 4)
torch.normal(torch.zeros(2, 3), torch.ones(2, 3), out=o).shape, o._version
p = torch.full((3,), 0.5)
torch.bernoulli(torch.ones(3), out=p), p._version
a = torch.tensor([3., 1., 2.])
torch.empty(2, 4, 2 ** 29, 2 ** 29)

# additions in the order of the memory
torch.manual_seed(0)
wide = torch.rand(17, 60) * 20
wide[0, 0] = float("nan")
