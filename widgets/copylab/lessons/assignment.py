"""`=` is no copy: two programs that differ in their order, and three that keep less than they should."""

from dataclasses import replace

from .. import Misconception, predict
from ..looks import values
from ..questions import count, same_tensor, value, version
from ..quiz import (
    RetestProgram,
    follows_numbers,
    is_tensor_list,
    name_elements,
    quote_number,
    share_no_cells,
    shows_values,
    was_left_alone,
)
from ..wording import gettext, gettext_noop
from . import task

FOLLOWS = Misconception(
    "a name follows a name",
    "After `best = w` the name `best` goes wherever `w` goes.",
    "A name is tied to a tensor, not to another name. When one of two names is tied to another tensor, the other stays where it is.",
    (
        RetestProgram("x = torch.tensor(V); y = x; x = x * T", {3: "x = y = x * T"}, value, "y"),
        RetestProgram(
            "x = torch.tensor(S); y = x; x = torch.tensor(T)",
            {3: "x = y = torch.tensor(T)"},
            value,
            "y",
        ),
        RetestProgram(
            "x = torch.tensor(M); y = x; x = x + K", {3: "x = y = x + K"}, same_tensor, "x", "y"
        ),
    ),
)

rebound = predict(
    """
    w = torch.tensor([1.0, 2.0])
    best = w
    w = w + 1
    w += 1
    """,
    [
        same_tensor("w", "best", at=2),
        same_tensor("w", "best", wrong={"yes": FOLLOWS}),
        count("storages"),
        value("best", wrong={"[3, 4]": FOLLOWS, "[2, 3]": FOLLOWS}),
        value("w"),
        version("best"),
        version("w", wrong={"2": "computing is writing"}),
    ],
    key="assignment/rebound",
    title="w = w + 1, then w += 1",
)

written = predict(
    """
    w = torch.tensor([1.0, 2.0])
    best = w
    w += 1
    w = w + 1
    """,
    [
        value("best", at=3, wrong={"[1, 2]": "a name is a copy"}),
        # Its facts are those of the row above, as no line changed `best` any more: why none did is said.
        replace(
            value("best", wrong={"[1, 2]": "a name is a copy", "[3, 4]": FOLLOWS}),
            because=gettext_noop(
                "After line 3 nothing wrote into the tensor of `best`: line 4 made another tensor, and tied only `w` to it."
            ),
        ),
        value("w"),
        version("best", wrong={"0": "a name is a copy", "2": "computing is writing"}),
        version("w"),
    ],
    key="assignment/written",
    title="w += 1, then w = w + 1",
)


@task(
    "assignment/earlier",
    "`before` should still show `[1, 2]` when `position` has moved on to `[11, 12]`. Change the line that makes the move.",
    about="the position before the move",
    given="position = torch.tensor([1.0, 2.0])\n",
    start="before = position\nposition += 10",
    hints=[
        "The last line writes into the cells that both names look at.",
        "`position + 10` is a new tensor. Which name has to be tied to it?",
    ],
    solution="before = position\nposition = position + 10",
    wrong={
        "before = position": "position shows [1, 2]",
        "position = position + 10\nbefore = position": "one tensor",
        "before = position[:]\nposition += 10": "position and before look at the same cells",
        "position = position + 10\nbefore = position + 0": "before shows [11, 12]",
        "before = position\nposition = position * 10": "position shows [10, 20]",
        "before = [1.0, 2.0]\nposition += 10": "before is of type list",
        "position += 10\nbefore = position - 10": "nothing computes them back",
    },
    right="`before` and `position` have cells of their own now, so the move reached only one of them.",
)
def earlier(position, before):
    yield shows_values([11, 12], position=position)
    # Before the values of `before`: sharing cells is the reason for these.
    yield share_no_cells(position=position, before=before)
    yield shows_values([1, 2], before=before)
    # The move adds so much to these that no digit of theirs is left: what they were is known
    # before the move alone.
    yield follows_numbers("[1.0, 2.0]", "[1e-12, 2e-12]", _shows_small_numbers)


def _shows_small_numbers(before):
    # Enlarged: the smallest numbers count as 0 where values are compared.
    return shows_values([1, 2], before=before * 1e12).with_objection(
        gettext(
            "`before` shows {value}: these small numbers are lost in the position after the move, "
            "and nothing computes them back.",
            value=quote_number(values(before)),
        )
    )


@task(
    "assignment/double",
    "`double(t)` should return the doubled numbers and leave the caller's tensor alone: afterwards `a` shows `[1, 2]`.",
    about="doubled, and the argument left alone",
    start="def double(t):\n    t *= 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])\nb = double(a)",
    hints=[
        "When the function is called, its `t` becomes a second name for the tensor `a`.",
        "`t *= 2` writes. Which line computes instead?",
    ],
    solution="def double(t):\n    t = t * 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])\nb = double(a)",
    wrong={
        "def double(t):\n    t * 2\n\n\na = torch.tensor([1.0, 2.0])": "double(t) gives None",
        "def double(t):\n    t * 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])": "t and double(t) are one tensor",
        "def double(t):\n    s = t\n    s *= 2\n    return s\n\n\na = torch.tensor([1.0, 2.0])": "after the call of double(t), t shows [6, 10]: the function writes into t",
        "def double(t):\n    return t * 2\n\n\na = torch.tensor([1.0, 2.0])\na *= 2": "Run the whole cell",
        "def double(t):\n    t *= 2\n    s = t.clone()\n    t /= 2\n    return s\n\n\na = torch.tensor([1.0, 2.0])": "t._version is 2; it should be 0",
    },
    right="the result has cells of its own: nothing was written into the caller's tensor.",
)
def doubled(double, a, torch):
    # Other numbers than those of the cell, which the function may have been written for.
    t = torch.tensor([3.0, 5.0])
    result = {"double(t)": double(t)}
    yield shows_values([3, 5], t=t).with_objection(
        gettext(
            "after the call of `double(t)`, `t` shows {value}: the function writes into `t`.",
            value=quote_number(values(t)),
        )
    )
    yield share_no_cells(t=t, **result)
    yield was_left_alone(t=t)
    yield shows_values([6, 10], **result)
    # An earlier run of the cell, with the function as it was, may have written into it.
    yield shows_values([1, 2], a=a).with_objection(
        gettext(
            "`double` is right now, but `a` shows {value}. Run the whole cell again.",
            value=quote_number(values(a)),
        )
    )


@task(
    "assignment/rows",
    "`table` should be a list of three tensors of two zeros; then add 1 to the first of them, and to no other.",
    about="three rows that are three tensors",
    start="table = [torch.zeros(2)] * 3\ntable[0] += 1",
    hints=[
        "How often does `torch.zeros(2)` run in that line?",
        "`torch.zeros(2)` has to run three times: `[... for _ in range(3)]` runs the part before `for` each time.",
    ],
    solution="table = [torch.zeros(2) for _ in range(3)]\ntable[0] += 1",
    wrong={
        "table = torch.zeros(3, 2)\ntable[0] += 1": "table is of type Tensor",
        "row = torch.zeros(2)\ntable = [row, torch.zeros(2), row]\ntable[0] += 1": "table[0] and table[2] are one tensor",
        "table = list(torch.zeros(2).expand(3, 2))\ntable[0] = table[0] + 1\ntable[1] = table[0][:]": "table[0] and table[1] look at the same cells",
        "table = [torch.zeros(2) for _ in range(3)]": "table shows [[0, 0], [0, 0], [0, 0]]",
    },
    right="each row is a tensor with cells of its own, so the write reached only one of them.",
)
def rows(table):
    yield is_tensor_list(3, table=table)
    yield share_no_cells(**name_elements(table=table))
    yield shows_values([[1, 1], [0, 0], [0, 0]], table=table)
