"""What the nodes of backward kernels save, whether or not a gradient needs it."""
import torch

F = torch.nn.functional
x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
t = torch.tensor([0.2, 0.3, 0.9])


def kernels(f, seen):
    if f is None or f in seen:
        return
    seen.add(f)
    if "BackwardBackward" in f.name() or "BackwardData" in f.name():
        saved = {}
        for n in sorted(dir(type(f))):
            if n.startswith("_saved_"):
                value = getattr(f, n)
                saved[n[7:]] = tuple(value.shape) if isinstance(value, torch.Tensor) else value
        print(f.name(), saved)
    for below, _ in f.next_functions:
        kernels(below, seen)


def second(value):
    (g,) = torch.autograd.grad((value * value).sum(), x, create_graph=True)
    kernels(g.grad_fn, set())


second(x.relu())
second(x.tanh())
second(x.sigmoid())
second(x.softmax(0))
second(x.log_softmax(-1))
second(F.mse_loss(x, t))
second(F.mse_loss(x, t, reduction="none"))
second(F.nll_loss(x[None], torch.tensor([1])))
h = torch.tensor(1.0, dtype=torch.float16)
m = F.mse_loss(x[0], h, reduction="none")
m.grad_fn._saved_target, m.grad_fn.next_functions[1]
(g,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
g.grad_fn.next_functions[1][0]._saved_other
