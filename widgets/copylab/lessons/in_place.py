"""Writes in place: which of them break backward, and three programs to mend."""

from __future__ import annotations

from typing import Any

from copylab.looks import grad, is_tensor, values
from copylab.questions import node, version
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.misconceptions import Misconception
from copylab.quiz.prediction import predict
from copylab.quiz.question import Question
from copylab.quiz.runs import Run

ALWAYS = Misconception(
    "every write breaks backward",
    "After a write in place, `backward` raises an error.",
    "It does so only where a node has saved what was written over.",
)
NEVER = Misconception(
    "a recorded write is safe",
    "The write was recorded, so `backward` can handle it.",
    "Recording tells `backward` what the write did. It does not bring back the numbers that were written over.",
)

CODE = """
a = torch.tensor([1.0, 2.0], requires_grad=True)
add = a + 1
mul = a * 2
exp = a.exp()
relu = a.relu()
for t in (add, mul, exp, relu):
    t += 1
"""


def _raises(name: str, wrong: str, belief: Misconception) -> Question:
    def stale(run: Run) -> bool:
        return _stale(run, name) is not None

    def because(run: Run) -> str:
        found = _stale(run, name)
        if found is None:
            return f"No node behind `{name}` has saved anything that was written over."
        return f"The node {found} has saved `{name}` as it was before the write."

    return Question(
        f"Does `{name}.sum().backward()` raise an error?",
        ("yes", "no"),
        answer=stale,
        wrong={wrong: belief},
        because=because,
    )


def _stale(run: Run, name: str) -> str | None:
    """The name of the node behind a tensor that has saved what was written over; None if there is none."""
    snap = run.snapshot()
    seen: set[str] = set()
    todo = [run.tensor(name).grad_fn]
    nodes = {one.id: one for one in snap.nodes}
    while todo:
        one = nodes.get(todo.pop() or "")
        if one is None or one.id in seen:
            continue
        seen.add(one.id)
        if any(saved.state == "stale" for saved in one.saved):
            return str(one.name)
        todo += [edge.node for edge in one.edges]
    return None


breaks = predict(
    CODE,
    [
        _raises("add", "yes", ALWAYS),
        _raises("mul", "yes", ALWAYS),
        _raises("exp", "no", NEVER),
        _raises("relu", "no", NEVER),
        version("exp"),
        node("mul"),
    ],
    key="in_place/breaks",
)


_SIGMOID = "a = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)\nh = a.sigmoid()\n"


def _check_activation(a: Any, h: Any, loss: Any) -> str | None:
    if not is_tensor(h) or not is_tensor(loss):
        return "h and loss have to be tensors."
    if not loss.requires_grad:
        return "loss has no way back to a any more."
    if abs(values(loss) - 1.5032) > 1e-3:
        return f"loss is {values(loss):.4f}, and 1.5032 is asked for: the one small number shall count as 0."
    if grad(a) is None:
        return "a.grad is None. Call loss.backward() at the end (an error there is the point of the exercise)."
    if any(abs(g - r) > 1e-3 for g, r in zip(grad(a), [0.0, 0.2350, 0.1050], strict=True)):
        return f"a.grad is {[round(g, 4) for g in grad(a)]}, and [0, 0.235, 0.105] is right."
    return None


activation = exercise(
    "in_place/activation",
    "Numbers of `h` below 0.5 shall count as 0. As it stands, `loss.backward()` raises an error. Mend the program, and "
    "call `loss.backward()` in your cell.",
    names=("a", "h", "loss"),
    check=_check_activation,
    start=_SIGMOID + "h[h < 0.5] = 0.0\nloss = h.sum()",
    hints=[
        "Who has saved `h`? What would you have to write into instead?",
        "`h.clone()`, or a new tensor: `h * (h >= 0.5)`.",
    ],
    solution=_SIGMOID + "h = h.clone()\nh[h < 0.5] = 0.0\nloss = h.sum()\nloss.backward()",
    wrong=[
        Wrong(_SIGMOID + "loss = h.sum()\nloss.backward()", says="loss is 1.7722"),
        Wrong(_SIGMOID + "h = h.clone()\nh[h < 0.5] = 0.0\nloss = h.sum()", says="a.grad is None"),
        Wrong(_SIGMOID + "h = h.detach().clone()\nh[h < 0.5] = 0.0\nloss = h.sum()", says="no way back to a"),
        Wrong(_SIGMOID + "h.data[h < 0.5] = 0.5\nloss = h.sum() - 0.5\nloss.backward()", says="a.grad is [0.25"),
    ],
    right="the node of sigmoid finds its result as it left it.",
    title="Exercise 1",
)

_RUNNING = "w = torch.tensor([1.0], requires_grad=True)\nstate = torch.zeros(1)\ntotal = torch.zeros(1)\n"


def _check_running(w: Any, total: Any) -> str | None:
    if not is_tensor(total):
        return f"total is of the type {type(total).__name__}, and a tensor is asked for."
    if values(total) != [46]:
        return f"total is {values(total)}, and 1 + 9 + 36 is 46."
    if not total.requires_grad:
        return "total has no way back to w any more."
    if grad(w) is None:
        return "w.grad is None. Call total.backward() at the end."
    if grad(w) != [92]:
        return f"w.grad is {grad(w)}, and [92] is right."
    return None


running = exercise(
    "in_place/running",
    "`state` adds up what comes in, `total` its squares. `total.backward()` raises an error as it stands. Mend it: "
    "`total` is 46 and `w.grad` is `[92]`. Call `backward` in your cell.",
    names=("w", "total"),
    check=_check_running,
    start=_RUNNING + "for x in (1.0, 2.0, 3.0):\n    state += w * x\n    total = total + state * state",
    hints=["`state * state` saves `state`. What does the next round do to it?", "Compute a new `state` in each round."],
    solution=_RUNNING
    + "for x in (1.0, 2.0, 3.0):\n    state = state + w * x\n    total = total + state * state\ntotal.backward()",
    wrong=[
        Wrong(
            _RUNNING
            + "for x in (1.0, 2.0, 3.0):\n    state.data += (w * x).data\n    total = total + state * state * w\n"
            "total.backward()",
            says="w.grad is [46.0]",
        ),
        Wrong(
            _RUNNING
            + "for x in (1.0, 2.0, 3.0):\n    state = state.detach() + w * x\n    total = total + state * state\n"
            "total.backward()",
            says="w.grad is [50.0]",
        ),
        Wrong(
            _RUNNING
            + "for x in (1.0, 2.0, 3.0):\n    state = w * x\n    total = total + state * state\ntotal.backward()",
            says="total is [14.0]",
        ),
        Wrong(
            _RUNNING + "for x in (1.0, 2.0, 3.0):\n    state = state + w * x\n    total = total + state * state",
            says="w.grad is None",
        ),
    ],
    right="every round has a state of its own.",
    title="Exercise 2",
)


def _check_twice(w: Any, y: Any) -> str | None:
    if not is_tensor(w) or not w.is_leaf or not w.requires_grad:
        return "w has to stay a leaf that requires grad."
    if values(w) != [3]:
        return f"w is {values(w)}, and 2 + 1 is [3]."
    if w._version == 0:
        return "the write into w went past the counter."
    if not is_tensor(y) or values(y) != 9:
        return f"y is {values(y)}, and with the new w it is 9: compute it anew."
    if grad(w) == [10]:
        return "w.grad is [10]: the gradient of the first round was added to it."
    if grad(w) != [6]:
        return f"w.grad is {grad(w)}, and [6] is the gradient of the second round."
    return None


twice = exercise(
    "in_place/rounds",
    "Add a second round: 1 is added to `w` in place, counted and not recorded; `y` is computed anew; `backward` is "
    "called; `w.grad` is that of the second round alone, `[6]`.",
    names=("w", "y"),
    check=_check_twice,
    start="w = torch.tensor([2.0], requires_grad=True)\ny = (w * w).sum()\ny.backward()",
    hints=[
        "Gradients add up: set `w.grad` to `None` between the rounds.",
        "The write stands inside `with torch.no_grad():`, the second `y` behind it.",
    ],
    solution="w = torch.tensor([2.0], requires_grad=True)\ny = (w * w).sum()\ny.backward()\nw.grad = None\n"
    "with torch.no_grad():\n    w += 1\ny = (w * w).sum()\ny.backward()",
    wrong=[
        Wrong(
            "w = torch.tensor([2.0], requires_grad=True)\ny = (w * w).sum()\ny.backward()\nwith torch.no_grad():\n"
            "    w += 1\ny = (w * w).sum()\ny.backward()",
            says="w.grad is [10]",
        ),
        Wrong(
            "w = torch.tensor([2.0], requires_grad=True)\nw.data += 1\ny = (w * w).sum()\ny.backward()",
            says="past the counter",
        ),
        Wrong(
            "w = torch.tensor([2.0], requires_grad=True)\ny = (w * w).sum()\ny.backward()\nw.grad = None\n"
            "with torch.no_grad():\n    w += 1",
            says="compute it anew",
        ),
        Wrong("w = torch.tensor([2.0], requires_grad=True)\nw = w + 1", says="stay a leaf"),
        Wrong("w = torch.tensor([2.0], requires_grad=True)\nwith torch.no_grad():\n    w += 2", says="w is [4.0]"),
    ],
    right="clear, write, compute, go back: that is a round of training.",
    title="Exercise 3",
)
