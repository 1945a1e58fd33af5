"""A Generator's seed and state, and the default one."""
import torch

g = torch.Generator()
g.initial_seed(), g.device
h = g.manual_seed(42)
h is g
torch.rand(2, generator=g)
s = g.get_state()
s.shape, s.dtype
a = torch.rand(2, generator=g)
n = g.set_state(s)
torch.equal(a, torch.rand(2, generator=g))
torch.manual_seed(42).initial_seed()
torch.rand(2)
st = torch.get_rng_state()
x = torch.randn(5)
torch.set_rng_state(st)
torch.equal(x, torch.randn(5))
torch.randperm(4, generator=g), torch.randint(5, (2,), generator=g), torch.empty(2).normal_(generator=g), torch.bernoulli(torch.tensor([0.5, 0.5]), generator=g), torch.normal(0., 1., (2,), generator=g)
g.seed() > 0
torch.default_generator.initial_seed()
k = g.clone_state()
torch.equal(torch.rand(3, generator=k), torch.rand(3, generator=g))
torch.set_rng_state(torch.zeros(3))
torch.set_rng_state([1])
torch.Generator("cpu").device
torch.Generator("foo")
torch.manual_seed(-1).initial_seed()
torch.rand(1)
torch.manual_seed(3.7).initial_seed()
