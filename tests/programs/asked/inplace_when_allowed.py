"""When in-place operation are allowed and when not."""
import torch
t = torch.arange(3.0, requires_grad=True)
u = 2 * t
uexp = u.exp()
loss = uexp.sum()
u[0] = 666
u
loss.backward(retain_graph=True)
t.grad
uexp[0] = 666
loss.backward()
t = torch.arange(3.0, requires_grad=True)
u = 2 * t
usq = u ** 2
usq[0] = 5
usq
usq.sum().backward(retain_graph=True)
t.grad
u[0] = 666
usq.sum().backward()
u._version
