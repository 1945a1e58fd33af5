"""Comparing."""
import torch
a = torch.tensor([1., 2., 3.])
b = torch.tensor([1., 2., 3.0000001])
a == b
torch.equal(a, b)
torch.allclose(a, b)
torch.allclose(a, b + 0.1)
torch.allclose(a, torch.tensor([1, 2, 3]))
torch.allclose(a, torch.ones(2))
torch.equal(a, torch.ones(2))
torch.equal(a, a.double())
torch.isclose(a, b + 1e-4, atol=1e-3)
torch.allclose(torch.tensor([float("nan")]), torch.tensor([float("nan")]))
torch.allclose(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
(a == b).all()
torch.all(a.eq(b)).item()
a != 2, a >= 2, a.lt(3)
a == [1., 2., 3.]
a == "a"
a is a, a == None
torch.eq(a, 2), torch.ne(a, b)
0.1 + 0.2 == torch.tensor(0.3)
torch.tensor(0.1) + torch.tensor(0.2) == torch.tensor(0.3)
a > torch.tensor([1, 2])
torch.logical_and(a > 1, a < 3)
torch.maximum(a, torch.tensor(2.)), torch.minimum(a, b)
a in [a, b]
[a] == [a]
(a - b).abs().max()
