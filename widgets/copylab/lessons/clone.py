"""clone: a copy that stays on the graph; what it shares, what it costs, where its gradient goes."""

from __future__ import annotations

from typing import Any

from copylab.looks import grad, is_tensor, same_storage, values
from copylab.questions import (
    Question,
    gradient,
    is_leaf,
    node,
    outcome,
    requires_grad,
    same_counter,
    same_tensor,
    value,
)
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.misconceptions import Misconception
from copylab.quiz.prediction import predict
from copylab.quiz.runs import Run

seven = predict(
    """
    a = torch.tensor(1.0, requires_grad=True)
    y = a**2
    b = a.clone()
    z = b * 3
    y.backward()
    z.backward()
    b += 1
    """,
    [
        same_tensor("a", "b"),
        shared("a", "b"),
        same_counter("a", "b"),
        node(
            "b",
            at=3,
            wrong={
                "none": "clone cuts the graph",
                "CloneBackward": "Older texts show `grad_fn=<CloneBackward>`. Today's name ends in a 0.",
            },
        ),
        is_leaf("b"),
        requires_grad("b", wrong={"no": "clone cuts the graph"}),
        gradient("a", at=5, wrong={"None": "the graph has the gradient"}),
        gradient("a", at=6, wrong={"2": "clone cuts the graph", "3": "backward overwrites"}),
        gradient("b", at=6, wrong={"3": "the copy has the gradient"}),
        value("a", wrong={"2": "a copy shares memory"}),
        value("b"),
    ],
    key="clone/seven",
    title="A clone, two gradients, one write",
)

NEVER_IN_PLACE = Misconception(
    "in place fails on a clone",
    "Calls that change a tensor in place always fail on a clone.",
    lambda run: (
        "Some do. Here "
        + ", ".join(
            f"`{step.site.source}` {'raises' if step.error else 'runs'}"
            for step in run.trace.steps
            if step.site.source.split("(")[0].endswith("_")
        )
        + ": a call that `backward` can go back through is recorded like any other operation."
    ),
)


def _added(run: Run) -> int:
    return len(run.snapshot(4).nodes) - len(run.snapshot(3).nodes)


def _added_because(run: Run) -> str:
    return f"There are {len(run.snapshot(3).nodes)} nodes before line 4, and {len(run.snapshot(4).nodes)} after it."


rest = predict(
    """
    a = torch.ones(2, 2, requires_grad=True)
    y = a * 2 + 1
    v = y.view(4)
    b = y.clone()
    b.retain_grad()
    (b * 3).sum().backward()
    b.transpose_(0, 1)
    b.resize_(3)
    """,
    [
        shared(
            "y", "v", at=4, wrong={"no": "id shows memory"}, prompt="`id(v)` is not `id(y)`. Do they share a storage?"
        ),
        shared("y", "b", at=4, prompt="`id(b)` is not `id(y)`. Do they share a storage?"),
        Question(
            "How many nodes does line 4 add to the graph?",
            None,
            _added,
            {
                "0": "clone cuts the graph",
                "2": "a clone copies the graph",
                "3": "a clone copies the graph",
                "4": "a clone copies the graph",
                "5": "a clone copies the graph",
            },
            _added_because,
            hint="a number",
        ),
        gradient("b", at=6, wrong={"None": "a result never has a grad"}),
        outcome(wrong={"line 7 raises an error": NEVER_IN_PLACE}),
    ],
    key="clone/rest",
    title="Four more things that are said about clones",
)


def _check_readings(reading: Any, kept: Any) -> str | None:
    if not isinstance(kept, list):
        return "kept is no list any more."
    if len(kept) != 3:
        return f"kept holds {len(kept)} things, and 3 are asked for."
    if not all(is_tensor(t) for t in kept):
        return "the numbers are kept, but not as tensors."
    if all(t is reading for t in kept):
        return "kept holds one and the same tensor three times."
    if any(same_storage(reading, t) for t in kept):
        return "other tensors, still the storage of reading. Each reading overwrites the last."
    if values(kept[0]) != [1, 1] or [values(t) for t in kept] != [[1, 1], [2, 2], [3, 3]]:
        return f"kept shows {[values(t) for t in kept]}."
    return None


_KEEP = """
reading = torch.zeros(2)
kept = []
for _ in range(3):
    reading += 1
    kept.append({})
"""

readings = exercise(
    "clone/readings",
    "A sensor is read three times, always into the same tensor. `kept` shall hold the three readings `[1, 1]`, `[2, 2]`, "
    "`[3, 3]` as tensors. Run the cell, look at what it holds, and mend one line.",
    names=("reading", "kept"),
    check=_check_readings,
    start=_KEEP.format("reading") + "print(kept)",
    hints=[
        "How many storages have `reading` and two of the kept together? See `memory(r=reading, k0=kept[0], k1=kept[1])`.",
        "What you put into the list needs a storage of its own at the moment you put it there.",
    ],
    solution=_KEEP.format("reading.clone()"),
    also=[_KEEP.format("reading + 0"), _KEEP.format("reading.detach().clone()")],
    wrong=[
        Wrong(_KEEP.format("reading.tolist()"), says="not as tensors"),
        Wrong(_KEEP.format("reading.detach()"), says="still the storage of reading"),
        Wrong("kept = torch.zeros(3, 2)", says="kept is no list"),
        Wrong(_KEEP.format("reading.clone() * 2"), says="kept shows [[2.0, 2.0]"),
        Wrong(_KEEP.format("reading.clone()") + "kept = kept[:2]", says="kept holds 2 things"),
        Wrong(_KEEP.format("reading") + "kept = [k.clone() for k in kept]", says="kept shows [[3.0, 3.0]"),
    ],
    right="three tensors, three storages.",
    title="Exercise 1",
)


def _check_both(a: Any, c: Any, out: Any) -> str | None:
    if not (is_tensor(c) and is_tensor(out)):
        return "c and out have to be tensors."
    if c is a:
        return "c is a itself, under a second name."
    if not c.requires_grad:
        return "c does not require grad, so nothing leads from it back to a."
    if c.is_leaf:
        return "c is a leaf. No gradient goes from it to a."
    if same_storage(c, a):
        return "c has no storage of its own."
    if grad(a) is None:
        return "a.grad is None. Did you call out.backward()?"
    if grad(c) is None:
        return "c.grad is None. c is no leaf: ask it to keep its gradient, before backward."
    if grad(a) != grad(c):
        return f"a.grad is {grad(a):g}, c.grad {grad(c):g}. Is out made from c alone?"
    if grad(a) != 12:
        return f"both are {grad(a):g}, and 12 is asked for."
    return None


_GO = "\nout.backward()"

both = exercise(
    "clone/both",
    "`c` shall be a clone of `a`, and `out` shall be computed from `c` alone, so that after `out.backward()` both `a.grad` "
    "and `c.grad` can be read and both are 12. Replace what is `None`, and call `backward`.",
    names=("a", "c", "out"),
    check=_check_both,
    start="a = torch.tensor(2.0, requires_grad=True)\nc = None\nout = None",
    hints=[
        "For the number: `out = c * 12` will do. So will `c**3`, whose gradient at 2 is 3 * 2 * 2.",
        'Which method lets a tensor that is no leaf keep its gradient? See "So a clone can never have a `.grad`".',
    ],
    solution="c = a.clone()\nc.retain_grad()\nout = c**3" + _GO,
    also=["c = a.clone()\nc.retain_grad()\nout = c * 12" + _GO],
    wrong=[
        Wrong("c = 2.0\nout = a ** 3" + _GO, says="have to be tensors"),
        Wrong("c = a\nout = c ** 3" + _GO, says="c is a itself"),
        Wrong("c = a.detach().clone()\nout = c ** 3", says="c does not require grad"),
        Wrong("c = a.detach().clone().requires_grad_()\nout = c ** 3" + _GO, says="c is a leaf"),
        Wrong("c = a.view(())\nc.retain_grad()\nout = c ** 3" + _GO, says="no storage of its own"),
        Wrong("c = a.clone()\nc.retain_grad()\nout = c ** 3", says="a.grad is None"),
        Wrong("c = a.clone()\nout = c ** 3" + _GO, says="c.grad is None"),
        Wrong("c = a.clone()\nc.retain_grad()\nout = c * 6 + a * 6" + _GO, says="made from c alone"),
        Wrong("c = a.clone()\nc.retain_grad()\nout = c * 6" + _GO, says="both are 6"),
    ],
    right="the gradient passed through c and arrived at a.",
    title="Exercise 2",
)
