# Modules moved, made and filled in unusual ways; gradients of straight pieces; what losses record.
import torch
import torch.nn.functional as F
from torch import nn
net = nn.Linear(1, 1)
net.to("cpu", copy=True)
net.to(torch.device("cpu"), True)
net.to("cpu", torch.float64, True).weight.dtype
nn.Module(3)
nn.Module(size=3)

class Mixin:
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.mixed = True
class Mixed(nn.Module, Mixin): pass
hasattr(Mixed(), "mixed")
nn.Module.call_super_init = True
hasattr(Mixed(), "mixed")
nn.Module.call_super_init = False

m = nn.Module()
m.seen = nn.Buffer(torch.ones(1), persistent=False)
m.state_dict()
m.seen = nn.Buffer(torch.ones(2))
m.state_dict()
m.seen = torch.zeros(1)
m.state_dict()
m.size = 5
m.size = nn.Buffer(torch.ones(1))

x = torch.tensor([-2., -1., 0., 1., 2.], requires_grad=True)
for f in (F.hardtanh, F.relu6, F.hardshrink, F.softshrink, lambda x: F.threshold(x, 0, 0)):
    print(torch.autograd.grad(f(x), x, -torch.ones(5))[0])
(torch.autograd.grad(F.hardtanh(x * 0.5).sum(), x, create_graph=True)[0] * x).sum().backward()
x.grad

a = torch.tensor([[1., 2.], [0.5, -1.]], requires_grad=True)
def inside(t):
    fn, names = t.grad_fn, []
    while fn is not None:
        names.append(fn.name())
        fn = next((n for n, _ in fn.next_functions if n is not None), None)
    return names
inside(F.margin_ranking_loss(a[:, 0], a[:, 1], torch.tensor([1., -1.]), 0.5))
inside(F.hinge_embedding_loss(a, torch.full((2, 2), -1.)))
inside(F.triplet_margin_loss(a, a.detach() + 1, a.detach() - 1))
inside(F.cosine_embedding_loss(a, a.detach() + 1, torch.tensor([1., -1.]), 0.1))
inside(F.poisson_nll_loss(a, torch.ones(2, 2), log_input=False))
inside(F.cosine_similarity(a, torch.ones(2, 2)))
F.cross_entropy(torch.rand(5, 0), torch.rand(5, 0))
