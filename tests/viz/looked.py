"""More programs than those of programs.py, some of them looked at twice."""

from types import ModuleType

from viz.programs import PROGRAMS, run

from tinytorch.viz import Snapshot, snapshot

THEN = "# then\n"
"""What stands after this line is run after a first look, and told as a change."""
MORE = {
    "gapped view": "big = torch.arange(24.).view(4, 6)\nv = big[1:3, ::2]\nlate = torch.arange(3)[1:]",
    "transposed": "m = torch.arange(6.).view(2, 3)\nt = m.t()\nrow = t[1]\nwide = torch.arange(12.).view(3, 4).t()",
    "repeated": "one = torch.tensor([[1.], [2.]])\nmany = one.expand(2, 3)\ngap = torch.arange(6.)[::2]",
    "large": "big = torch.arange(100000.)\nend = big[-2:]\nmiddle = big[50000:50002]",
    "number": "x = torch.ones(2, requires_grad=True)\ny = (x ** 3).sum()",
    "freed": "a = torch.ones(2, requires_grad=True)\nout = a.sigmoid()\nout.sum().backward()",
    "copyslices": "x = torch.ones(4, requires_grad=True)\ny = x * 2\nv = y[:2]\nv.mul_(3)\nz = y.sum()",
    "no gradient on one side": "x = torch.ones(2, requires_grad=True)\nk = torch.ones(2)\ny = k * x\nz = y - k",
    "nameless stale": "x = torch.ones(2, requires_grad=True)\ny = (x * 2).exp()\nz = y.sum()\n"
    "y.detach().zero_()\ndel y",
    "changes": f"x = torch.tensor([1., 2.], requires_grad=True)\nd = x.detach()\nold = d\nfree = torch.ones(2)\n{THEN}"
    "d.add_(1)\n(x * x).sum().backward()\nmore = x\nd = torch.zeros(1)\ndel old\nfree.requires_grad_()",
    "optimizer": f"n = torch.nn.Linear(2, 1, bias=False)\nwith torch.no_grad(): n.weight.fill_(1.)\n"
    f"o = torch.optim.SGD(n.parameters(), lr=0.5, momentum=0.5)\n{THEN}"
    "n(torch.ones(1, 2)).sum().backward()\no.step()",
    "turns stale": "x = torch.ones(3, requires_grad=True)\nout = (x * 2).sigmoid()\nd = out.detach()\n"
    f"{THEN}z = out * 3\nd.zero_()\nout = z.sum()\nagain = d",
    "turns freed": f"x = torch.ones(3, requires_grad=True)\ny = (x * x).sum()\n{THEN}y.backward()",
    "changed unseen": "x = torch.ones(3, requires_grad=True)\nh = x.exp()\nk = x.sigmoid()\n"
    f"z = (h + k).sum()\n{THEN}h.data.mul_(5)",
    "gradients": "x = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n"
    f"w = torch.ones(2, requires_grad=True)\n(w * w).sum().backward()\n"
    f"kept = torch.ones(1, requires_grad=True)\n(kept * 1).backward()\n{THEN}"
    "(x * x).sum().backward()\nw.grad = None",
    "rewritten": f"x = torch.ones(4, requires_grad=True)\ny = x * 2\nv = y[:2]\n{THEN}v.mul_(3)\ny.mul_(2)",
    "reshaped": f"x = torch.arange(6.)\n{THEN}x.t_() if x.dim() == 2 else x.resize_(2, 3)\nx.t_()",
    "lost": f"x = torch.ones(2, requires_grad=True)\ny = x.exp()\nz = y.sum()\n{THEN}y = x * 3\ndel z",
    "folded": "x = torch.ones(1, requires_grad=True)\ny = x\n"
    "for i in range(60):\n    y = y.sigmoid() if i % 2 else y * 2",
    "folded, changed": "x = torch.ones(1, requires_grad=True)\n"
    "w = [torch.ones(1, requires_grad=True) for _ in range(3)]\n"
    f"y = x\nfor i in range(60):\n    y = (y * w[0]).sigmoid()\n{THEN}y.backward()\ny = x\n"
    "for i in range(60):\n    y = (y * w[1]).sigmoid()\nz = y",
    "fold grows": "x = torch.ones(1, requires_grad=True)\ny = x\nfor i in range(30):\n    y = (y * 2).exp()\n"
    f"{THEN}for i in range(30):\n    y = (y * 2).sigmoid()\ny.backward()",
    "cut": "r = [torch.ones(1, requires_grad=True)]\nfor i in range(300):\n    r.append(r[i] * r[i // 2])\n"
    f"y = r[-1]\ndel r\n{THEN}y.backward()",
}
ALL = {**PROGRAMS, **MORE}


def looked(program: str, engine: ModuleType) -> tuple[Snapshot, Snapshot | None]:
    """The snapshot at the end of a program, and the one before its second half."""
    first, _, second = ALL.get(program, program).partition(THEN)
    names = run(first, engine)
    if not second:
        return snapshot(names), None
    before = snapshot(names)
    exec(second, {"torch": engine}, names)
    return snapshot(names, since=before), before
