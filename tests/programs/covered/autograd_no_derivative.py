"""What PyTorch has no derivative for raises before other gradients arrive; relu lets NaN through."""
import torch

x = torch.ones(2, requires_grad=True)
y = torch.ones(2, requires_grad=True)
s = torch.ones(2)
s.set_(x).grad_fn.name()
(s + y).sum().backward()
(x // 2).grad_fn.name(), (2 // x).grad_fn.name(), (x // y).grad_fn.name()
(x // 2).sum().backward()
(x % 2).grad_fn, (2 % x).grad_fn.name()
n = torch.tensor([float("nan"), 1., -1.], requires_grad=True)
r = n.relu()
(r * r).sum().backward()
n.grad
e = torch.ones(0, 3, requires_grad=True)
f = e.reshape(-1)
torch.cat([f, f]).backward(torch.ones(0))
e.grad._version
