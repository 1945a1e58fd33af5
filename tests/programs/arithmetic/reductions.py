import torch
x = torch.arange(6.).reshape(2, 3).requires_grad_()
x.sum(), x.sum(0), x.sum(-1, keepdim=True)
x.sum(axis=0)
x.sum(-1).grad_fn._saved_dim
x.mean(), x.mean(1)
x.std(), x.var(0, unbiased=False)
x.prod(0)
x.norm(), x.norm(1, dim=0)
x.logsumexp(1)
x.cumsum(1), x.cumprod(1)
(x > 2).sum(), (x > 2).any(0), (x > 2).all()
x.count_nonzero()
torch.arange(3).sum().dtype, torch.arange(3, dtype=torch.uint8).prod().dtype
torch.arange(3).mean()
x.sum(5)
x.sum((0, 0))
x.sum("a")
torch.ones(1).std()
x.prod().backward()
x.grad
g, = torch.autograd.grad(x.mean(), x, create_graph=True)
g
torch.autograd.grad((x ** 3).sum(), x, create_graph=True)
