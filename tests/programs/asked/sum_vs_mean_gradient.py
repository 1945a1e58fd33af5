"""Sum vs mean gradient."""
import torch
w = torch.tensor([[1., 2.], [3., 4.]], requires_grad=True)
w.mean().backward()
w.grad
w.grad = None
w.sum(0).mean().backward()
w.grad
w.grad = None
w.mean(1).backward(torch.tensor([1., 2.]))
w.grad
w.grad = None
(w ** 2).sum().sqrt().backward()
w.grad
w.grad = None
torch.linalg.norm(w).backward()
w.grad
w.grad = None
w.var().backward()
w.grad
w.grad = None
w.prod().backward()
w.grad
w.grad = None
w.t()[0].sum().backward()
w.grad
w.grad = None
w.logsumexp(1).sum().backward()
w.grad
w.grad = None
w.cumsum(0).sum().backward()
w.grad
w.grad = None
(w @ w).trace().backward()
w.grad
