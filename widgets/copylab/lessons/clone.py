"""clone: what it shares, what it costs, where its gradient goes."""

from __future__ import annotations

from dataclasses import replace

from .. import Misconception, predict
from .. import questions as ask
from ..quiz import (
    CheckedFact,
    QuizRun,
    RetestProgram,
    elements_survive_writes,
    follows_numbers,
    graph_leads_back,
    has_grad,
    is_tensor_list,
    name_elements,
    recommend_clone,
    sends_gradient,
    share_no_cells,
    shows_values,
    uses_variable,
    was_gone_through,
    was_written,
)
from ..wording import gettext, join_phrases
from . import task

apart = predict(
    """
    a = torch.tensor([1.0, 2.0])
    b = a.clone()
    b += 10
    """,
    [
        ask.same_tensor("a", "b"),
        ask.same_storage("a", "b"),
        ask.same_counter("a", "b"),
        ask.value("a", wrong={"[11, 12]": "a copy shares memory"}),
        ask.value("b"),
    ],
    key="clone/apart",
    title="A clone, one write",
)

joined = predict(
    """
    a = torch.tensor(1.0, requires_grad=True)
    y = a**2
    b = a.clone()
    z = b * 3
    y.backward()
    z.backward()
    """,
    [
        ask.node("b", wrong={"none": "clone cuts the graph"}),
        ask.is_leaf("b"),
        ask.requires_grad("b", wrong={"no": "clone cuts the graph"}),
        ask.gradient("a", at=5),
        ask.gradient("a", at=6, wrong={"2": "clone cuts the graph", "3": "backward overwrites"}),
        ask.gradient("b", at=6, wrong={"3": "the copy has the gradient"}),
    ],
    key="clone/joined",
    title="A clone, two gradients",
)


def _describe_calls_in_place(run: QuizRun) -> str:
    ends = []
    for step in run.trace.steps:
        call = step.site.source
        if call.split("(")[0].endswith("_"):
            raises, runs = (
                gettext("`{call}` raises", call=call),
                gettext("`{call}` runs", call=call),
            )
            ends.append(raises if step.error else runs)
    return gettext(
        "Here {calls}. The clone is not the reason: no gradient can go back through `resize_`, so `resize_` is refused for every tensor that requires grad. Calls that a gradient can go back through are recorded, like any other operation.",
        calls=join_phrases(ends),
    )


NEVER_IN_PLACE = Misconception(
    "in place fails on a clone",
    "Calls that change a tensor in place always fail on a clone.",
    _describe_calls_in_place,
    tuple(
        RetestProgram(
            f"x = torch.tensor({numbers}, requires_grad=True); y = x.clone(); {call}",
            # A leaf refuses what this one is believed to refuse.
            {2: "y = x.detach().clone().requires_grad_()"},
            ask.outcome,
        )
        for numbers, call in (("V", "y.add_(T)"), ("S", "y.fill_(T)"), ("M", "y.transpose_(0, 1)"))
    ),
)


def _count_added_nodes(run: QuizRun) -> int:
    return len(run.snapshot(4).nodes) - len(run.snapshot(3).nodes)


def _describe_added_nodes(run: QuizRun) -> str:
    before, after = len(run.snapshot(3).nodes), len(run.snapshot(4).nodes)
    return gettext(
        "There are {before} nodes before line 4, `AccumulateGrad` among them, and {after} after it: {node} is new.",
        before=before,
        after=after,
        node=run.tensor("b", 4).grad_fn_name,
    )


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
        ask.same_storage(
            "y",
            "v",
            at=4,
            wrong={"no": "id shows memory"},
            prompt="`id(v)` and `id(y)` differ. Do `v` and `y` share a storage?",
        ),
        ask.same_storage(
            "y",
            "b",
            at=4,
            prompt="`id(b)` and `id(y)` differ. Do `b` and `y` share a storage?",
        ),
        ask.Question(
            "How many nodes does line 4 add to the graph?",
            None,
            _count_added_nodes,
            {
                "0": "clone cuts the graph",
                "2": "a clone copies the graph",
                "3": "a clone copies the graph",
                "4": "a clone copies the graph",
                "5": "a clone copies the graph",
            },
            _describe_added_nodes,
            hint="a number",
        ),
        replace(
            ask.gradient("b", at=6, wrong={"None": "a result never has a grad"}),
            hint="numbers such as [[1, 2], [3, 4]], or None",
        ),
        ask.outcome(wrong={"line 7 raises an error": NEVER_IN_PLACE}),
    ],
    key="clone/rest",
    title="Four more claims about clones",
)


_KEEP = """
reading = torch.zeros(2)
kept = []
for _ in range(3):
    reading += 1
    kept.append({})
"""


@task(
    "clone/readings",
    "A sensor is read three times, always into the same tensor. `kept` should hold the three readings `[1, 1]`, `[2, 2]`, "
    "`[3, 3]` as tensors. Run the cell, look at what `kept` holds, and fix one line.",
    about="three readings of a sensor",
    start=_KEEP.format("reading") + "print(kept)",
    hints=[
        "How many storages do `reading` and two of the kept tensors have between them? See `memory(r=reading, k0=kept[0], k1=kept[1])`.",
        "What you put into the list needs a storage of its own at the moment you put it there.",
    ],
    solution=_KEEP.format("reading.clone()"),
    also=[_KEEP.format("reading + 0"), _KEEP.format("reading.detach().clone()")],
    wrong={
        _KEEP.format("reading.tolist()"): "kept[0] is of type list",
        # Each wrong answer with the words that the check has to find for it: `verify` runs them
        # all.
        _KEEP.format("reading.detach()"): "kept[0] and kept[1] look at the same cells",
        "kept = torch.zeros(3, 2)": "kept is of type Tensor",
        _KEEP.format("reading.clone() * 2"): "kept shows [[2, 2], [4, 4], [6, 6]]",
        _KEEP.format("reading.clone()") + "kept = kept[:2]": "the length of kept is 2",
        _KEEP.format("reading")
        + "kept = [k.clone() for k in kept]": "kept shows [[3, 3], [3, 3], [3, 3]]",
        _KEEP.format("reading")
        + "kept = [torch.full((2,), n) for n in (1.0, 2.0, 3.0)]": "instead of reading = torch.zeros(2)",
        "kept = [torch.ones(2) * n for n in (1, 2, 3)]\nreading = torch.full((2,), 3.0)": "no line of your cell uses reading",
    },
    right="each of the three has cells of its own: none overwrites another.",
)
def readings(reading, kept):
    # Before other checks write into it.
    is_read_into_one_tensor = was_written(3, reading=reading).holds
    yield is_tensor_list(3, kept=kept)
    yield share_no_cells(**name_elements(kept=kept))
    yield elements_survive_writes(kept=kept, reading=reading)
    yield shows_values([[1, 1], [2, 2], [3, 3]], kept=kept)
    yield follows_numbers(
        "reading = torch.zeros(2)",
        "reading = torch.ones(2)",
        lambda kept: shows_values([[2, 2], [3, 3], [4, 4]], kept=kept),
    )
    # Typed in without the first line, which the second run looks for.
    yield uses_variable(reading=reading)
    yield recommend_clone()
    remark = gettext(
        "Here the sensor makes a new tensor each time. If it writes into the same one, as in the task, "
        "each reading has to be copied."
    )
    yield CheckedFact(
        True, "", "" if is_read_into_one_tensor else remark, is_told=not is_read_into_one_tensor
    )


_GO = "\nout.backward()"


@task(
    "clone/both",
    "`c` should be a clone of `a`, and `out` should be computed from `c` alone, so that after `out.backward()` both `a.grad` "
    "and `c.grad` can be read and both are 12. Replace each `None`, and call `backward`.",
    about="a clone with a gradient",
    start="a = torch.tensor(2.0, requires_grad=True)\nc = None\nout = None",
    hints=[
        "For the number: `out = c * 12` will do. So will `c**3`, whose gradient at 2 is 3 * 2 * 2.",
        "Which method lets a tensor that is not a leaf keep its gradient? The program of the third prediction calls it.",
    ],
    solution="c = a.clone()\nc.retain_grad()\nout = c**3" + _GO,
    also=["c = a.clone()\nc.retain_grad()\nout = c * 12" + _GO],
    wrong={
        "c = 2.0\nout = a ** 3" + _GO: "c is of type float",
        "c = a\nout = c ** 3" + _GO: "c is a itself",
        "c = a.detach().clone()\nout = c ** 3": "c requires no grad",
        "c = a.detach().clone().requires_grad_()\nout = c ** 3"
        + _GO: "c has no node that leads to a",
        "c = a.view(())\nc.retain_grad()\nout = c ** 3" + _GO: "c and a look at the same cells",
        "c = a.clone()\nc.retain_grad()\nout = c ** 3": "a.grad is None",
        "c = a.clone()\nout = c ** 3" + _GO: "c.grad is None",
        "c = a.clone()\nc.retain_grad()\nout = c * 6 + a * 6" + _GO: "c.grad is 6",
        "c = a.clone()\nc.retain_grad()\nout = c * 6" + _GO: "a.grad is 6",
        "c = a.clone()\nout = c ** 3" + _GO + "\nc.grad = torch.tensor(12.0)": "was set by hand",
    },
    right="the gradient passed through `c` on its way to `a`, and was kept there, too.",
)
def both(a, c, out):
    yield graph_leads_back(c=c, a=a)
    # A view leads back to `a`, too, and is no clone.
    yield share_no_cells(c=c, a=a)
    yield graph_leads_back(out=out, c=c)
    yield has_grad(12, a=a)
    yield has_grad(12, c=c)
    yield sends_gradient(12, out=out, a=a)
    yield sends_gradient(12, out=out, c=c)
    yield was_gone_through(out=out)
    yield recommend_clone()
