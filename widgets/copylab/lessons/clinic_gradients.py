"""The clinic, second half: six programs that lose a gradient, spoil one, or keep a graph too long."""

from copylab.lessons.clinic import patient
from copylab.looks import grad, is_tensor, values


def _near(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-3 for x, y in zip(a, b, strict=True))


def _check_write(a, h):
    assert is_tensor(h), "h has to be a tensor."
    assert h.requires_grad, "h has no way back to a any more."
    assert _near(values(h), [3.7183, 8.3891]), (
        f"h shows {[round(v, 2) for v in values(h)]}, and exp(a) + 1 is [3.72, 8.39]."
    )
    assert grad(a) is not None, "a.grad is None: backward was not called, or did not get there."
    assert _near(grad(a), [2.7183, 7.3891]), (
        f"a.grad is {[round(v, 2) for v in grad(a)]}, and [2.72, 7.39] is right: the write came before backward."
    )


_A = "a = torch.tensor([1.0, 2.0], requires_grad=True)\n"
write_before = patient(
    7,
    "write",
    "`h.sum().backward()` raises 'modified by an inplace operation'. `h` shall be `exp(a) + 1`, `a.grad` `[2.72, 7.39]`. "
    "Call `backward` in your cell.",
    _check_write,
    start=_A + "h = a.exp()\nh += 1",
    hints=["`exp` has saved its result.", "Compute in place of writing: `h = h + 1`."],
    solution=_A + "h = a.exp()\nh = h + 1\nh.sum().backward()",
    wrong={
        _A + "h = a.exp()\nh.data += 1\nh.sum().backward()": "the write came before backward",
        _A + "h = a.exp().detach()\nh += 1": "no way back",
        _A + "h = a.exp()\nh = h + 1": "did not get there",
        _A + "h = a.exp()\nh.sum().backward()": "h shows [2.72, 7.39]",
    },
    right="the saved result stays as it was.",
)


def _check_update(w):
    assert is_tensor(w) and w.is_leaf, "w is no leaf any more: the updates were recorded, and the graph grows."
    assert w.requires_grad, "w requires no grad any more."
    assert w._version != 0, "the numbers may be right, but the writes went past the counter."
    assert values(w) != [4], "w was not moved."
    assert _near(values(w), [2.5600]), f"w is {values(w)[0]:.4f}, and two steps of 0.1 times the gradient lead to 2.56."


_W = "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    w.grad = None\n"
data_update = patient(
    8,
    "update",
    "An old program updates its parameter through `.data`, and in the wrong place: before `backward`. `w` shall be "
    "2.56 after two rounds, and every write counted.",
    _check_update,
    start=_W + "    loss = (w * w).sum()\n    w.data -= 0.1 * 2 * w.data\n    loss.backward()",
    hints=["First `backward`, then the update with `w.grad`.", "Inside `with torch.no_grad():`."],
    solution=_W + "    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0.1 * w.grad",
    wrong={
        _W + "    loss = (w * w).sum()\n    loss.backward()\n    w.data -= 0.1 * w.grad": "past the counter",
        "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    w = w - 0.1 * 2 * w": "no leaf any more",
        "w = torch.tensor([4.0], requires_grad=True)\nfor _ in range(2):\n    loss = (w * w).sum()\n    loss.backward()\n"
        "    with torch.no_grad():\n        w -= 0.1 * w.grad": "w is 1.7600",
        _W
        + "    loss = (w * w).sum()\n    loss.backward()\n    with torch.no_grad():\n        w -= 0": "was not moved",
    },
    right="gradient first, then a counted write that is not recorded.",
)


def _check_copy(h, kept):
    assert is_tensor(kept), f"kept is of the type {type(kept).__name__}, and a tensor is asked for."
    assert not kept.requires_grad, f"kept requires grad: its node is {kept.grad_fn.name() if kept.grad_fn else 'none'}."
    assert is_tensor(h) and h.requires_grad, "h itself was cut off the graph."
    assert kept.data_ptr() != h.data_ptr(), "kept looks at the cells of h."
    assert values(kept) == values(h), f"kept shows {values(kept)}, and h {values(h)}."


deep_result = patient(
    9,
    "deepcopy",
    "'Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol.' `kept` shall hold the "
    "numbers of `h`, on its own, while `h` stays on the graph.",
    _check_copy,
    start=_A + "h = a * 2\nkept = None  # was: copy.deepcopy(h), which raises the error",
    hints=["`h` was computed. A graph cannot be copied.", "Cut, then copy."],
    solution=_A + "h = a * 2\nkept = h.detach().clone()",
    wrong={
        _A + "h = a * 2\nkept = h.clone()": "its node is CloneBackward0",
        _A + "h = a * 2\nkept = h.detach()": "looks at the cells of h",
        _A + "import copy\n\nh = (a * 2).detach()\nkept = copy.deepcopy(h)": "h itself was cut off",
        _A + "import copy\n\nh = a * 2\nkept = copy.deepcopy(a).detach()": "kept shows [1.0, 2.0]",
    },
    right="cut first, then a copy of the numbers.",
)


def _check_running(w, total):
    assert is_tensor(total) or isinstance(total, float), (
        f"total is of the type {type(total).__name__}: a number or a tensor is asked for."
    )
    assert not is_tensor(total) or not total.requires_grad, (
        f"total has the node {total.grad_fn.name()}: it keeps the graphs of all rounds."
    )
    number = float(total.item()) if is_tensor(total) else total
    assert abs(number - 14) <= 1e-4, f"total is {number:g}, and 1 + 4 + 9 is 14."
    assert grad(w) is not None, "w.grad is None: the losses have no way back any more."
    assert _near(grad(w), [28.0]), f"w.grad is {grad(w)}, and [28] is right."


_LOSS = "w = torch.tensor([1.0], requires_grad=True)\ntotal = 0.0\nfor x in (1.0, 2.0, 3.0):\n"
running_loss = patient(
    10,
    "running",
    "Memory grows with every round. The sum of the losses, which is only there to be printed, keeps all graphs alive.",
    _check_running,
    start=_LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward(retain_graph=True)\n    total = total + loss",
    hints=["What is computed from `loss` has a node.", "`loss.item()` or `loss.detach()`."],
    solution=_LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.item()",
    wrong={
        _LOSS
        + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = total + loss.clone()": "it keeps the graphs",
        _LOSS + "    loss = ((w.detach() * x) ** 2).sum()\n    total = total + loss": "no way back any more",
        _LOSS + "    loss = ((w * x) ** 2).sum()\n    loss.backward()\n    total = loss.item()": "total is 9",
        _LOSS + "    loss = ((w * x) ** 2).sum()\n    total = total + loss.item()\nloss.backward()": "w.grad is [18.0]",
    },
    right="a number has no graph.",
)


def _check_leaf(w):
    assert is_tensor(w) and w.is_leaf and w.requires_grad, "w has to be a leaf that requires grad, at the end."
    assert values(w) != [0.5, 0.5, 0.5], "nothing was written."
    assert values(w) == [1, 0.5, 0.5], f"w shows {values(w)}, and [1, 0.5, 0.5] is asked for."
    assert w._version != 0, "the number is there, and its write went past the counter, or w is a new tensor."


_FULL = "w = torch.full((3,), 0.5, requires_grad=True)\n"
leaf_view = patient(
    11,
    "leaf",
    "'A view of a leaf Variable that requires grad is being used in an in-place operation.' The first number of the "
    "parameter shall become 1.",
    _check_leaf,
    start=_FULL + "first = w[0]  # then: first.fill_(1.0), which raises the error",
    hints=["The write would have to be recorded, and `w` is a leaf.", "Inside `no_grad` it is not recorded."],
    solution=_FULL + "with torch.no_grad():\n    w[0] = 1.0",
    wrong={
        _FULL + "w.data[0] = 1.0": "went past the counter",
        _FULL + "w = w.clone()\nw[0] = 1.0": "a leaf that requires grad, at the end",
        _FULL + "with torch.no_grad():\n    w.fill_(1.0)": "w shows [1.0, 1.0, 1.0]",
        _FULL + "with torch.no_grad():\n    w[0] = 0.5": "nothing was written",
    },
    right="initial values are written inside no_grad.",
)


def _check_state(w, h):
    assert is_tensor(h), "h has to be a tensor."
    assert abs(values(h) - 0.125) <= 1e-6, f"h is {values(h)}, and three rounds of one half lead to 0.125."
    assert grad(w) is not None, "w.grad is None: no gradient came back."
    assert abs(grad(w) - 1.75) <= 1e-6, f"w.grad is {grad(w)}, and 1 + 0.5 + 0.25 is 1.75: one step of each round."


_STATE = "w = torch.tensor(0.5, requires_grad=True)\nh = torch.tensor(1.0)\nfor _ in range(3):\n"
hidden_state = patient(
    12,
    "state",
    "'Trying to backward through the graph a second time.' The advice was `retain_graph=True`; since then each round is "
    "slower than the last. `h` shall keep its number, not its past, and no graph shall be retained.",
    _check_state,
    start=_STATE + "    h = h * w\n    h.backward(retain_graph=True)",
    hints=["The second round goes back through the first.", "`h = h.detach() * w`."],
    solution=_STATE + "    h = h.detach() * w\n    h.backward()",
    wrong={
        _STATE + "    h = h.clone() * w\n    h.backward(retain_graph=True)": "w.grad is 2.75",
        _STATE + "    h = (h * w).detach()": "no gradient came back",
        _STATE + "    h = torch.tensor(1.0) * w\n    h.backward()": "h is 0.5",
        _STATE + "    h = h.detach() * w\nh.backward()": "w.grad is 0.25",
    },
    right="the number goes on, the past does not.",
)
