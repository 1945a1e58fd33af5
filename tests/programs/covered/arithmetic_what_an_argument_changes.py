# One argument more: another node, another result, another error.
import torch
import torch.nn.functional as F
x = torch.tensor([[1.25, 2.5, 4.], [3., 1., 2.]], requires_grad=True)
torch.round(x)
torch.round(x, decimals=0)
x.round(decimals=1)
x.clone().round_(decimals=0).grad_fn
torch.round(torch.tensor([1, 2]))
torch.round(torch.tensor([1, 2]), decimals=0)
torch.round(x, decimals=None)

a = torch.tensor([1., 4., 9.])
torch.diff(a, n=0, append=torch.ones(2))
torch.diff(a, n=1, append=torch.ones(2))

w = torch.tensor([1., 2., 3.], requires_grad=True)
torch.cov(x.detach(), aweights=w).sum().backward()
w.grad
torch.cov(x.detach(), aweights=w, fweights=torch.tensor([1, 2, 1]))

torch.logspace(0, 2.7, 3)
torch.logspace(0, 2.7, 3, dtype=torch.int64)
torch.logspace(0.5, 2.5, 3, base=2.5, dtype=torch.int32)
torch.linspace(torch.tensor([1.]), torch.tensor([1.]), 3)
torch.linspace(1, torch.tensor([1.]), 3)

up = torch.nextafter(x, x + 1)
up.grad_fn._saved_other.shape
up.sum().backward()
x.grad
x.angle().grad_fn._saved_self is x
F.pairwise_distance(x, x.detach() + 3)
F.pairwise_distance(x, x.detach() + 3, p=1, keepdim=True)
torch.linalg.vecdot(x[0], x[1])
torch.linalg.vecdot(x, x)

# refusals
F.triplet_margin_loss(x[0], x, x)
F.soft_margin_loss(torch.ones(5, 4), torch.ones(5))
F.prelu(torch.tensor(1.), torch.ones(2))
torch.narrow_copy(a, 1, 0, 0)
torch.Tensor.abs(2)
torch.Tensor.eq(2, a)
torch.Tensor.sum()
