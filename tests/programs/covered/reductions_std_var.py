"""Standard deviation and variance with every correction."""
import torch

x = torch.tensor([[1., 2., 4.], [3., 5., 9.]])
x.std(), x.std(unbiased=False), x.std(correction=0), x.std(0, correction=2), x.var(1, False), x.var(dim=1, correction=1.5), x.var(False), x.std(None, correction=0)
x.var(1, correction=3)
torch.std(x, (0, 1), True, True)
x.std(0, unbiased=True, correction=1)
x.long().var()
w = x.clone().requires_grad_()
w.std().backward()
w.grad
w.grad = None
w.var(1).sum().backward()
w.grad
w.std(0).grad_fn, w.var(0).grad_fn
z = torch.ones(3, requires_grad=True)
z.std().backward()
z.grad
torch.tensor(3.).var(), torch.tensor([3.]).std(correction=0)
