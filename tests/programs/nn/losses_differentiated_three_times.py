"""The graphs of second and third derivatives of losses that compare elements, node by node."""

import torch
import torch.nn.functional as F


def walk(f, d=0):
    if f is None or d > 5:
        return
    print(
        " " * d + f.name(),
        {
            n: (getattr(f, n) if not isinstance(getattr(f, n), torch.Tensor) else "T")
            for n in dir(f)
            if n.startswith("_saved")
        },
    )
    [walk(g, d + 1) for g, _ in f.next_functions]


for kw in (dict(reduction="none"), dict(reduction="mean"), dict(reduction="sum")):
    for fn in (F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss):
        a = torch.tensor([0.5, -2.0, 1.0], requires_grad=True)
        b = torch.tensor([1.0, 0, -1], requires_grad=True)
        y = fn(a, b, **kw)
        g, h = torch.autograd.grad((y * y).sum(), (a, b), create_graph=True)
        print(fn.__name__, kw)
        walk(g.grad_fn)
        walk(h.grad_fn)
        try:
            g2 = torch.autograd.grad((g * g).sum(), (a, b), create_graph=True)
            walk(g2[0].grad_fn)
            walk(g2[1].grad_fn)
        except RuntimeError as e:
            print(e)
