"""The clinic, second half: six programs that lose a gradient, spoil one, or keep a graph too long."""

from __future__ import annotations

from typing import Any

from copylab.lessons.clinic import patient
from copylab.looks import grad, is_tensor, values
from copylab.quiz.exercises import Wrong


def _near(a: Any, b: list[float]) -> bool:
    return len(a) == len(b) and all(abs(x - y) < 1e-3 for x, y in zip(a, b, strict=True))


def _check_write(a: Any, h: Any) -> str | None:
    if not is_tensor(h):
        return "h has to be a tensor."
    if not h.requires_grad:
        return "h has no way back to a any more."
    if not _near(values(h), [3.7183, 8.3891]):
        return f"h shows {[round(v, 2) for v in values(h)]}, and exp(a) + 1 is [3.72, 8.39]."
    if grad(a) is None:
        return "a.grad is None: backward was not called, or did not get there."
    if not _near(grad(a), [2.7183, 7.3891]):
        return f"a.grad is {[round(v, 2) for v in grad(a)]}, and [2.72, 7.39] is right: the write came before backward."
    return None


_A = "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
write_before = patient(
    7,
    "write",
    "`h.sum().backward()` raises 'modified by an inplace operation'. `h` shall be `exp(a) + 1`, `a.grad` `[2.72, 7.39]`. "
    "Call `backward` in your cell.",
    ("a", "h"),
    _check_write,
    start=_A + "h = a.exp()\nh += 1",
    hints=["`exp` has saved its result.", "Compute in place of writing: `h = h + 1`."],
    solution=_A + "h = a.exp()\nh = h + 1\nh.sum().backward()",
    wrong=[
        Wrong(_A + "h = a.exp()\nh.data += 1\nh.sum().backward()", says="the write came before backward"),
        Wrong(_A + "h = a.exp().detach()\nh += 1", says="no way back"),
        Wrong(_A + "h = a.exp()\nh = h + 1", says="did not get there"),
        Wrong(_A + "h = a.exp()\nh.sum().backward()", says="h shows [2.72, 7.39]"),
    ],
    right="the saved result stays as it was.",
)


def _check_update(w: Any) -> str | None:
    if not is_tensor(w) or not w.is_leaf:
        return "w is no leaf any more: the updates were recorded, and the graph grows."
    if not w.requires_grad:
        return "w requires no grad any more."
    if w._version == 0:
        return "the numbers may be right, but the writes went past the counter."
    if values(w) == [4]:
        return "w was not moved."
    if not _near(values(w), [2.5600]):
        return f"w is {values(w)[0]:.4f}, and two steps of 0.1 times the gradient lead to 2.56."
    return None


_W = "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    w.grad = None\n"
data_update = patient(
    8,
    "update",
    "An old program updates its parameter through `.data`, and in the wrong place: before `backward`. `w` shall be "
    "2.56 after two rounds, and every write counted.",
    ("w",),
    _check_update,
    start=_W + "    loss = (w * w).sum()\n    w.data -= 0.1 * 2 * w.data\n    loss.backward()",
    hints=["First `backward`, then the update with `w.grad`.", "Inside `with torch.no_grad():`."],
    solution=_W + "    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad",
    wrong=[
        Wrong(
            _W + "    loss = (w * w).sum()\n    loss.backward()\n    w.data -= 0.1 * w.grad", says="past the counter"
        ),
        Wrong(
            "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    w = w - 0.1 * 2 * w",
            says="no leaf any more",
        ),
        Wrong(
            "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    loss = (w * w).sum()\n    loss.backward()\n"
            "    with torch.no_grad():\n        w -= 0.1 * w.grad",
            says="w is 1.7600",
        ),
        Wrong(
            _W + "    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0",
            says="was not moved",
        ),
    ],
    right="gradient first, then a counted write that is not recorded.",
)


def _check_copy(h: Any, kept: Any) -> str | None:
    if not is_tensor(kept):
        return f"kept is of the type {type(kept).__name__}, and a tensor is asked for."
    if kept.requires_grad:
        return f"kept requires grad: its node is {kept.grad_fn.name() if kept.grad_fn else 'none'}."
    if not is_tensor(h) or not h.requires_grad:
        return "h itself was cut off the graph."
    if kept.data_ptr() == h.data_ptr():
        return "kept looks at the cells of h."
    if values(kept) != values(h):
        return f"kept shows {values(kept)}, and h {values(h)}."
    return None


deep_result = patient(
    9,
    "deepcopy",
    "'Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol.' `kept` shall hold the "
    "numbers of `h`, on its own, while `h` stays on the graph.",
    ("h", "kept"),
    _check_copy,
    start=_A + "h = a * 2\nkept = None  # was: copy.deepcopy(h), which raises the error",
    hints=["`h` was computed. A graph cannot be copied.", "Cut, then copy."],
    solution=_A + "h = a * 2\nkept = h.detach().clone()",
    wrong=[
        Wrong(_A + "h = a * 2\nkept = h.clone()", says="its node is CloneBackward0"),
        Wrong(_A + "h = a * 2\nkept = h.detach()", says="looks at the cells of h"),
        Wrong(_A + "import copy\n\nh = (a * 2).detach()\nkept = copy.deepcopy(h)", says="h itself was cut off"),
        Wrong(_A + "import copy\n\nh = a * 2\nkept = copy.deepcopy(a).detach()", says="kept shows [1.0, 2.0]"),
    ],
    right="cut first, then a copy of the numbers.",
)


def _check_running(w: Any, total: Any) -> str | None:
    if not is_tensor(total) and not isinstance(total, float):
        return f"total is of the type {type(total).__name__}: a number or a tensor is asked for."
    if is_tensor(total) and total.requires_grad:
        return f"total has the node {total.grad_fn.name()}: it keeps the graphs of all rounds."
    number = float(total.item()) if is_tensor(total) else total
    if abs(number - 14) > 1e-4:
        return f"total is {number:g}, and 1 + 4 + 9 is 14."
    if grad(w) is None:
        return "w.grad is None: the losses have no way back any more."
    if not _near(grad(w), [28.0]):
        return f"w.grad is {grad(w)}, and [28] is right."
    return None


_LOSS = "w = torch.tensor([1.0], requires_grad=True)\ntotal = 0.0\nfor x in (1.0, 2.0, 3.0):\n"
running_loss = patient(
    10,
    "running",
    "Memory grows with every round. The sum of the losses, which is only there to be printed, keeps all graphs alive.",
    ("w", "total"),
    _check_running,
    start=_LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward(retain_graph=True)\n    total = total + loss",
    hints=["What is computed from `loss` has a node.", "`loss.item()` or `loss.detach()`."],
    solution=_LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.item()",
    wrong=[
        Wrong(
            _LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.clone()",
            says="it keeps the graphs",
        ),
        Wrong(
            _LOSS + "    loss = ((w.detach() * x) ** 2).sum()\n    total = total + loss", says="no way back any more"
        ),
        Wrong(
            _LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = loss.item()", says="total is 9"
        ),
        Wrong(
            _LOSS + "    loss = ((w * x) ** 2).sum()\n    total = total + loss.item()\nloss.backward()",
            says="w.grad is [18.0]",
        ),
    ],
    right="a number has no graph.",
)


def _check_leaf(w: Any) -> str | None:
    if not is_tensor(w) or not w.is_leaf or not w.requires_grad:
        return "w has to be a leaf that requires grad, at the end."
    if values(w) == [0.5, 0.5, 0.5]:
        return "nothing was written."
    if values(w) != [1, 0.5, 0.5]:
        return f"w shows {values(w)}, and [1, 0.5, 0.5] is asked for."
    if w._version == 0:
        return "the number is there, and its write went past the counter, or w is a new tensor."
    return None


_FULL = "w = torch.full((3,), 0.5, requires_grad=True)\n"
leaf_view = patient(
    11,
    "leaf",
    "'A view of a leaf Variable that requires grad is being used in an in-place operation.' The first number of the "
    "parameter shall become 1.",
    ("w",),
    _check_leaf,
    start=_FULL + "first = w[0]  # then: first.fill_(1.0), which raises the error",
    hints=["The write would have to be recorded, and `w` is a leaf.", "Inside `no_grad` it is not recorded."],
    solution=_FULL + "with torch.no_grad():\n    w[0] = 1.0",
    wrong=[
        Wrong(_FULL + "w.data[0] = 1.0", says="went past the counter"),
        Wrong(_FULL + "w = w.clone()\nw[0] = 1.0", says="a leaf that requires grad, at the end"),
        Wrong(_FULL + "with torch.no_grad():\n    w.fill_(1.0)", says="w shows [1.0, 1.0, 1.0]"),
        Wrong(_FULL + "with torch.no_grad():\n    w[0] = 0.5", says="nothing was written"),
    ],
    right="initial values are written inside no_grad.",
)


def _check_state(w: Any, h: Any) -> str | None:
    if not is_tensor(h):
        return "h has to be a tensor."
    if abs(values(h) - 0.125) > 1e-6:
        return f"h is {values(h)}, and three rounds of one half lead to 0.125."
    if grad(w) is None:
        return "w.grad is None: no gradient came back."
    if abs(grad(w) - 1.75) > 1e-6:
        return f"w.grad is {grad(w)}, and 1 + 0.5 + 0.25 is 1.75: one step of each round."
    return None


_STATE = "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor _ in range(3):\n"
hidden_state = patient(
    12,
    "state",
    "'Trying to backward through the graph a second time.' The advice was `retain_graph=True`; since then each round is "
    "slower than the last. `h` shall keep its number, not its past, and no graph shall be retained.",
    ("w", "h"),
    _check_state,
    start=_STATE + "    h = h * w\n    h.backward(retain_graph=True)",
    hints=["The second round goes back through the first.", "`h = h.detach() * w`."],
    solution=_STATE + "    h = h.detach() * w\n    h.backward()",
    wrong=[
        Wrong(_STATE + "    h = h.clone() * w\n    h.backward(retain_graph=True)", says="w.grad is 2.75"),
        Wrong(_STATE + "    h = (h * w).detach()", says="no gradient came back"),
        Wrong(_STATE + "    h = torch.tensor(1.0) * w\n    h.backward()", says="h is 0.5"),
        Wrong(_STATE + "    h = h.detach() * w\nh.backward()", says="w.grad is 0.25"),
    ],
    right="the number goes on, the past does not.",
)
