"""Comparisons and logical operations."""
import torch

a = torch.tensor([1, 2, 3])
a == 2, a != a, a < 2.5, a >= torch.tensor([3, 2, 1]), a == None, a != None
a == "x"
a < "x"
a < None
a == [1, 2, 3]
a.eq(2), a.ne(2), a.lt(2), a.le(2), a.gt(2), a.ge(2)
a == torch.ones(2)
torch.equal(a, a.clone()), torch.equal(a, a.float()), torch.equal(a, torch.tensor([1, 2])), a.equal(a)
torch.allclose(a.float(), a + 1e-6), torch.isclose(torch.tensor([1., 2.]), torch.tensor([1.1, 2.]), atol=0.2), torch.allclose(a, a)
torch.allclose(a, a.float())
torch.isclose(torch.tensor([float("nan")]), torch.tensor([float("nan")]), equal_nan=True)
torch.tensor([float("nan")]) == torch.tensor([float("nan")])
a.eq_(2), a.dtype
torch.eq(a, 1, out=torch.empty(3, dtype=torch.bool)), torch.eq(a, 1, out=torch.empty(3))
1 < a, 1 == a, 2.5 >= a
torch.logical_and(a, 0), torch.logical_or(a, a), torch.logical_not(a), torch.logical_xor(a, a), a.logical_not_()
torch.maximum(torch.tensor([1, 2]), torch.tensor([1.5, 1.])), torch.minimum(torch.tensor([1.]), torch.tensor([float("nan")]))
torch.max(torch.tensor([1, 2]), torch.tensor([2., 1.]))
torch.maximum(a, 2)
torch.isnan(a), torch.isinf(torch.tensor([float("inf"), 1])), torch.isfinite(a)
torch.sign(torch.tensor([-2, 0]))
