"""First and second derivatives of functions of many kinds."""
import torch

x = torch.tensor([0.3, 0.8], dtype=torch.double, requires_grad=True)
for f in (torch.exp, torch.sin, torch.tanh, torch.sigmoid, torch.sqrt, torch.log, lambda t: t ** 3, lambda t: 1 / t, torch.relu, lambda t: t.softmax(0), lambda t: t.norm(), lambda t: t.prod(), lambda t: t.std(), lambda t: t.logsumexp(0), lambda t: t @ t, lambda t: t.max(), lambda t: t.cumprod(0), torch.rsqrt, torch.abs, lambda t: t.clamp(0.5), lambda t: t.lerp(t * t, 0.3)):
    g, = torch.autograd.grad(f(x).sum(), x, create_graph=True)
    gg, = torch.autograd.grad(g.sum(), x, allow_unused=True) if g.requires_grad else (None,)
    print(g.detach(), gg)
