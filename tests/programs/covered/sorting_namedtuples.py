"""The named pairs that max, sort and others return."""
import torch

x = torch.tensor([[1., 3.], [4., 2.]])
for f in ("max", "min", "median", "sort"):
    r = getattr(x, f)(1)
    print(type(r), r)
    print(r.values is r[0], isinstance(r, tuple), len(r))

r = x.max(1)
r.foo
r.values = 3
r[2]
a, b = r
a, b
r == r
type(r).__name__, type(r).__module__, type(r).n_fields if hasattr(type(r), "n_fields") else None
x.topk(1)
torch.return_types.max
torch.return_types.sort((1, 2))
r + (3,)
r[:1]
tuple(r)
r.count(3), r.index(r.values) if False else None
import copy, pickle
copy.copy(r)
