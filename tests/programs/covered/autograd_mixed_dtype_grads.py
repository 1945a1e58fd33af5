"""Each gradient comes back in its own tensor's dtype."""
import torch

a = torch.ones(2, dtype=torch.float16, requires_grad=True)
b = torch.ones(2, requires_grad=True)
c = torch.ones(2, dtype=torch.float64, requires_grad=True)
y = a * b + c
y
y.sum().backward()
a.grad, b.grad, c.grad
i = torch.arange(2)
(a * i).sum().backward()
a.grad
b.to(torch.float64).to(torch.float16).sum().backward()
b.grad
(b.long() * b).sum().backward()
b.grad
b.grad = None
b.sum(dtype=torch.float64).backward()
b.grad
