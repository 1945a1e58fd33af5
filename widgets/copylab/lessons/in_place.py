"""Writes in place: which of them break backward, and three programs to fix."""

from __future__ import annotations

from .. import Misconception, Question, predict
from ..looks import values
from ..questions import node, outcome, version
from ..quiz import (
    CheckedFact,
    QuizRun,
    RetestProgram,
    are_tensors,
    got_gradients,
    graph_leads_back,
    has_grad,
    is_leaf_with_grad,
    quote_number,
    sends_gradient,
    shows_values,
    walk_nodes,
    was_gone_through,
    was_written,
)
from ..wording import gettext
from . import task

NEVER = Misconception(
    "a recorded write is safe",
    "The write was recorded, so `backward` can handle it.",
    "Recording tells `backward` what the write did, and does not bring back the numbers that were written over.",
    (
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = x.exp(); y += T; y.sum().backward()",
            {3: "y = y + T"},
            outcome,
        ),
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = x.sigmoid(); y[I] = K; y.sum().backward()",
            {3: "y = y.clone(); y[I] = K"},
            outcome,
        ),
        RetestProgram(
            "x = torch.tensor(V, requires_grad=True); y = x * 1; z = y * y; y *= T; z.sum().backward()",
            {4: "y = y * T"},
            outcome,
        ),
    ),
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


def _ask_if_backward_raises(name: str, wrong: str, belief: Misconception | str) -> Question:
    def is_stale(run: QuizRun) -> bool:
        return _find_stale_node(run, name) is not None

    def because(run: QuizRun) -> str:
        stale_node = _find_stale_node(run, name)
        if stale_node is None:
            return gettext(
                "No node behind `{name}` has saved anything that was written over.", name=name
            )
        return gettext(
            "The node {node} has saved `{name}` itself, not a copy of it, and the write has changed its numbers.",
            node=stale_node,
            name=name,
        )

    return Question(
        lambda: gettext("Does `{name}.sum().backward()` raise an error?", name=name),
        ("yes", "no"),
        answer=is_stale,
        wrong={wrong: belief},
        because=because,
        name=f"Does `{name}.sum().backward()` raise an error?",
    )


def _find_stale_node(run: QuizRun, name: str) -> str | None:
    """Return the name of a node behind a tensor that saved what was written over, or None."""
    for record in run.snapshot().nodes_behind(run.tensor(name)):
        if any(saved.state == "stale" for saved in record.saved):
            return record.name
    return None


breaks = predict(
    CODE,
    [
        _ask_if_backward_raises("add", "yes", "every write breaks backward"),
        _ask_if_backward_raises("mul", "yes", "every write breaks backward"),
        _ask_if_backward_raises("exp", "no", NEVER),
        _ask_if_backward_raises("relu", "no", NEVER),
        version("exp"),
        node("mul"),
    ],
    key="in_place/breaks",
    title="One write into each of four results",
)


@task(
    "in_place/activation",
    "In `loss`, numbers of `h` below 0.5 should count as 0. As written, `loss.backward()` raises an error. Fix the program, and "
    "call `loss.backward()` in your cell.",
    about="small numbers count as 0",
    given="a = torch.tensor([-1.0, 0.5, 2.0], requires_grad=True)\nh = a.sigmoid()\n",
    start="h[h < 0.5] = 0.0\nloss = h.sum()",
    hints=[
        "Which node has saved `h`? What should you write into instead?",
        "`h.clone()`, or a new tensor: `h * (h >= 0.5)`.",
    ],
    solution="h = h.clone()\nh[h < 0.5] = 0.0\nloss = h.sum()\nloss.backward()",
    wrong={
        "loss = h.sum()\nloss.backward()": "loss shows 1.7722",
        "h = h.clone()\nh[h < 0.5] = 0.0\nloss = h.sum()": "a.grad is None",
        "h = h.detach().clone()\nh[h < 0.5] = 0.0\nloss = h.sum()": "loss requires no grad",
        "h.data[h < 0.5] = 0.5\nloss = h.sum() - 0.5\nloss.backward()": "a.grad is [0.25, 0.235004, 0.104994]",
        "h = h * (h >= 0.5)\nloss = h.sum()\nloss.backward()\nloss.backward()": "your cell raised RuntimeError",
    },
    right="nothing had overwritten what `backward` needed.",
)
def activation(a, h, loss):
    yield are_tensors(h=h)
    yield graph_leads_back(loss=loss, a=a)
    yield shows_values(1.5032, loss=loss)
    yield has_grad([0, 0.2350, 0.1050], a=a)
    yield sends_gradient([0, 0.2350, 0.1050], loss=loss, a=a)
    yield was_gone_through(loss=loss)
    recorded = {node.name() for node in walk_nodes(h) if node.next_functions}
    # Zeros that were written past the counter change what `sigmoid` has saved, and with it the
    # gradient: the numbers are right, and no node made them.
    only_sigmoid = "SigmoidBackward0" in recorded and recorded <= {
        "SigmoidBackward0",
        "CloneBackward0",
    }
    yield CheckedFact(
        not only_sigmoid or shows_values([0.2689, 0.6225, 0.8808], h=h).holds,
        gettext(
            "`h` shows {value}, and no node behind `h` makes a 0: a write that the counter does not count changed what `sigmoid` has saved.",
            value=quote_number(values(h)),
        ),
    )


@task(
    "in_place/running",
    "`state` is a running sum, and `total` sums its squares. As written, `total.backward()` raises an error. Fix the program, so that "
    "`total` is 46 and `w.grad` is `[92]`. Call `backward` in your cell.",
    about="a running sum and its squares",
    given="w = torch.tensor([1.0], requires_grad=True)\nstate = torch.zeros(1)\ntotal = torch.zeros(1)\n",
    start="for x in (1.0, 2.0, 3.0):\n    state += w * x\n    total = total + state * state",
    hints=[
        "`state * state` saves `state`. What does the next round do to it?",
        "Compute a new `state` in each round.",
    ],
    solution="for x in (1.0, 2.0, 3.0):\n    state = state + w * x\n    total = total + state * state\ntotal.backward()",
    wrong={
        "for x in (1.0, 2.0, 3.0):\n    state.data += (w * x).data\n    total = total + state * state * w\n"
        "total.backward()": "w.grad is [46]",
        "for x in (1.0, 2.0, 3.0):\n    state = state.detach() + w * x\n    total = total + state * state\n"
        "total.backward()": "w.grad is [50]",
        "for x in (1.0, 2.0, 3.0):\n    state = w * x\n    total = total + state * state\ntotal.backward()": "total shows [14]",
        "for x in (1.0, 2.0, 3.0):\n    state = state + w * x\n    total = total + state * state": "w.grad is None",
    },
    right="nothing that `backward` needed was written over.",
)
def running(w, total):
    yield graph_leads_back(total=total, w=w)
    yield shows_values([46], total=total)
    yield has_grad([92], w=w)
    yield sends_gradient([92], total=total, w=w)
    yield was_gone_through(total=total)


@task(
    "in_place/rounds",
    "Add a second round: add 1 to `w` in place, counted but not recorded; compute `y` again; call `backward`. At the "
    "end, `w.grad` should hold the gradient of the second round alone, `[6]`.",
    about="a second round",
    given="w = torch.tensor([2.0], requires_grad=True)\n",
    start="y = (w * w).sum()\ny.backward()",
    hints=[
        "Gradients add up: set `w.grad` to `None` between the rounds.",
        "Write inside `with torch.no_grad():`; compute the second `y` after it.",
    ],
    solution="y = (w * w).sum()\ny.backward()\nw.grad = None\nwith torch.no_grad():\n    w += 1\ny = (w * w).sum()\ny.backward()",
    wrong={
        "y = (w * w).sum()\ny.backward()\nwith torch.no_grad():\n    w += 1\ny = (w * w).sum()\ny.backward()": "w.grad is [10]",
        "w.data += 1\ny = (w * w).sum()\ny.backward()": "does not count that",
        "y = (w * w).sum()\ny.backward()\nw.grad = None\nwith torch.no_grad():\n    w += 1": "y shows 4",
        "w = w + 1": "computes w, so w is not a leaf: its node is AddBackward0",
        "with torch.no_grad():\n    w += 2": "w shows [4]",
        "with torch.no_grad():\n    w += 1\ny = (w * w).sum()\ny.backward()": "backward brought w 1 gradient; it should bring 2",
    },
    right="`y` was computed anew from the new number, and the gradient of the first round is gone.",
)
def twice(w, y):
    yield is_leaf_with_grad(w=w)
    yield shows_values([3], w=w)
    # Past the counter `w` would be 3, too.
    yield was_written(w=w)
    yield are_tensors(y=y)
    yield shows_values(9, y=y)
    yield has_grad([6], w=w)
    yield graph_leads_back(y=y, w=w)
    yield sends_gradient([6], y=y, w=w)
    yield was_gone_through(y=y)
    # A reset leaves nothing of the first round, which may never have been.
    yield got_gradients(2, "w = torch.tensor([2.0], requires_grad=True)", w=w)
