"""`.data`: the pair with detach, a protected display, a counted update, and a wrong gradient made on purpose."""

from copylab import exercise, predict
from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import (
    gradient,
    outcome,
    requires_grad,
    same_counter,
    same_tensor,
    value,
    version,
)
from copylab.questions import same_storage as shared

past = predict(
    """
    a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    out = a.sigmoid()
    d = out.data
    d.zero_()
    out.sum().backward()
    """,
    [
        same_tensor("out", "d"),
        shared("out", "d", wrong={"no": "a view is a copy"}),
        same_counter("out", "d", wrong={"yes": "shared memory, shared counter"}),
        requires_grad("d", wrong={"yes": ".data keeps the gradient"}),
        value("out"),
        version("d"),
        version("out", wrong={"1": ".data is detach"}),
        outcome(),
        gradient("a"),
    ],
    key="data/past",
)


def _check_counted(a, out, shown):
    assert is_tensor(shown) and is_tensor(out), "out and shown have to be tensors."
    assert out.requires_grad, "out has no way back to a any more."
    assert not same_storage(out, shown), "shown still writes into the cells of out."
    assert not shown.requires_grad, "shown requires grad, and it is for the display only."
    right = values((1 / (1 + (-a.detach()).exp())) * 100)
    assert _close(values(shown), right), f"shown begins with {values(shown)[0]:.2f}, and {right[0]:.2f} is asked for."
    assert _close(values(out), [v / 100 for v in right]), "out itself was changed."


def _close(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-3 for x, y in zip(a, b, strict=True))


counted = exercise(
    "data/display",
    "`shown` shall hold `out` in percent, requiring no grad, and `out` shall stay as it is. Change one line.",
    check=_check_counted,
    start="a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)\nout = a.sigmoid()\nshown = out.data\nshown.mul_(100)",
    hints=["`mul_` writes. Into whose cells?", "Cut the graph, and copy: two calls."],
    solution="out = a.sigmoid()\nshown = out.detach().clone()\nshown.mul_(100)",
    wrong={
        "out = a.sigmoid()\nshown = out.detach()\nshown.mul_(100)": "still writes into the cells",
        "out = a.sigmoid()\nshown = out.clone()\nshown.mul_(100)": "for the display only",
        "out = a.sigmoid()\nshown = out.detach().clone()": "shown begins with 0.73",
        "out = a.sigmoid().detach()\nshown = out * 100": "no way back",
        "out = a.sigmoid()\nout.data.mul_(100)\nshown = out.detach().clone()": "out itself was changed",
    },
    right="the display has cells of its own.",
    title="Exercise 1",
)


def _check_update(w):
    assert is_tensor(w) and w.is_leaf, "w is no leaf any more: the update was recorded."
    assert w.requires_grad, "w requires no grad any more: it is not the parameter that it was."
    assert grad(w) is not None, "w.grad is None. loss.backward() has to be called."
    assert grad(w) == [8], f"w.grad is {grad(w)}, and [8] is right: backward has to find the old value of w."
    assert values(w) != [4], "w is still [4]: the update is gone."
    assert values(w) == [3], f"w is {values(w)}, and [3] is asked for."
    assert w._version != 0, (
        "w is right, and its counter says that nobody wrote: the update still goes past the counter."
    )


_UPDATE = "w = torch.tensor([4.0], requires_grad=True)\nloss = (w * w).sum()\n"

update = exercise(
    "data/update",
    "The gradient of `w * w` at 4 is 8, and the program finds 6. `w` shall go from 4 to 3, `w.grad` shall be `[8]`, "
    "and the write shall be counted.",
    check=_check_update,
    start=_UPDATE + "w.data -= 1.0\nloss.backward()",
    hints=[
        "Which of the last two lines has to come first?",
        "A write that is counted and not recorded: section 6 has one.",
    ],
    solution=_UPDATE + "loss.backward()\nwith torch.no_grad():\n    w -= 1.0",
    wrong={
        _UPDATE + "loss.backward()": "is gone",
        _UPDATE + "loss.backward()\nw.data -= 1.0": "still goes past the counter",
        _UPDATE + "loss.backward()\nw = w - 1.0": "the update was recorded",
        _UPDATE + "loss.backward()\nw = w.detach() - 1.0": "requires no grad any more",
        _UPDATE + "with torch.no_grad():\n    w -= 1.0": "w.grad is None",
    },
    right="first the gradient, then a write that is counted.",
    title="Exercise 2",
)


def _check_silent(x, y):
    assert is_tensor(x) and is_tensor(y), "x and y have to be tensors."
    assert values(y) == 9, f"y is {values(y)}, and it has to be computed from the 3: 9."
    assert grad(x) is not None, "x.grad is None: backward did not get there."
    assert grad(x) != [6], "x.grad is [6], which is right. Do some harm."
    assert grad(x) != [12], "x.grad is [12]: two times the right one, which is what adding up does."
    assert grad(x) == [200], f"x.grad is {grad(x)}, which is wrong, but not the [200] that is asked for."


_SILENT = "x = torch.tensor([3.0], requires_grad=True)\ny = (x * x).sum()\n"

silent = exercise(
    "data/silent",
    "Add one line, so that no error is raised, `y` is 9, and `x.grad` is `[200]` where `[6]` would be right.",
    check=_check_silent,
    start=_SILENT + "y.backward()",
    hints=[
        "The node reads the value of `x` when `backward` runs. Which value gives 200?",
        "Write 100 into `x` between the second line and the third, past the counter.",
    ],
    solution=_SILENT + "x.data.fill_(100.0)\ny.backward()",
    wrong={
        _SILENT + "y.backward()\nx.data.fill_(100.0)": "which is right",
        _SILENT + "x.detach().fill_(100.0)\ny.backward()": "did not get there",
        "x = torch.tensor([3.0], requires_grad=True)\nx.data.fill_(100.0)\ny = (x * x).sum()\ny.backward()": "y is 10000.0",
        _SILENT + "x.data.fill_(200.0)\ny.backward()": "x.grad is [400.0]",
    },
    right="no error, and a wrong gradient. Remember what it looks like.",
    title="Exercise 3",
)
