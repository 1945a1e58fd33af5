"""Gradients through each kind of view."""
import torch

x = torch.arange(6., requires_grad=True)
for f in (lambda t: t.view(2, 3)[1], lambda t: t.view(2, 3).t()[0], lambda t: t[1:5:2], lambda t: t.unfold(0, 2, 1).sum(1), lambda t: t.view(2, 3).diagonal(), lambda t: t.expand(2, 6)[0], lambda t: t.narrow(0, 2, 3), lambda t: t.view(2, 3).movedim(0, 1).select(0, 1), lambda t: t.split([2, 4])[1], lambda t: t.view(2, 3).flatten(), lambda t: t.unflatten(0, (3, 2))[:, 1], lambda t: t.as_strided((2, 2), (1, 2)).sum(0)):
    y = f(x)
    x.grad = None
    y.sum().backward()
    print(y.grad_fn.name(), y.tolist(), x.grad.tolist(), x.grad.stride())
