"""`=` is no copy: two programs that differ in their order, and three that keep less than they should."""

from copylab import Misconception, exercise, predict
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import count, same_tensor, value, version

FOLLOWS = Misconception(
    "a name follows a name",
    "After `best = w` the name `best` goes wherever `w` goes.",
    "A name is tied to a tensor, not to another name. When `w` is tied to another tensor, `best` stays where it is.",
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
        value("best", wrong={"[1, 2]": "a name is a copy", "[3, 4]": FOLLOWS}),
        value("w"),
        version("best", wrong={"0": "a name is a copy", "2": "computing is writing"}),
        version("w"),
    ],
    key="assignment/written",
)


def _check_earlier(position, before):
    for name, given in (("position", position), ("before", before)):
        assert is_tensor(given), f"{name} is of the type {type(given).__name__}, and a tensor is asked for."
    assert values(position) != [1, 2], "position still shows [1, 2]: the move is gone."
    assert position is not before, "position and before are one tensor, so both show the move."
    assert values(position) == [11, 12], f"position shows {values(position)}, and [11, 12] is where the move leads."
    assert not same_storage(position, before), "two tensors, and still one storage."
    assert values(before) == [1, 2], f"before shows {values(before)}, and [1, 2] is where it began."


_EARLIER = "position = torch.tensor([1.0, 2.0])\n"

earlier = exercise(
    "assignment/earlier",
    "`before` shall still show `[1, 2]` when `position` has moved on to `[11, 12]`. Change the line that moves.",
    check=_check_earlier,
    start=_EARLIER + "before = position\nposition += 10",
    hints=[
        "The last line writes into the cells that both names look at.",
        "`position + 10` is a new tensor. Which name has to be tied to it?",
    ],
    solution=_EARLIER + "before = position\nposition = position + 10",
    wrong={
        _EARLIER + "before = position": "the move is gone",
        _EARLIER + "position = position + 10\nbefore = position": "one tensor",
        _EARLIER + "before = position[:]\nposition += 10": "still one storage",
        _EARLIER + "position = position + 10\nbefore = position + 0": "before shows [11.0, 12.0]",
        _EARLIER + "before = position\nposition = position * 10": "position shows [10.0, 20.0]",
        _EARLIER + "before = [1.0, 2.0]\nposition += 10": "before is of the type list",
    },
    right="the name position moved on, and nobody wrote into the old tensor.",
    title="Exercise 1",
)


def _check_doubled(double, a, torch):
    assert callable(double), "double is no function any more."
    given = torch.tensor([3.0, 5.0])
    got = double(given)
    assert got is not None, "double returns nothing."
    assert is_tensor(got) and values(got) == [6, 10], f"double([3, 5]) gives {values(got)}, and [6, 10] is asked for."
    assert got is not given, (
        "double hands back the very tensor that it was given, so the caller's numbers have changed."
    )
    assert values(given) == [3, 5], (
        f"after the call, what was given shows {values(given)}: the function still writes into it."
    )
    assert not same_storage(got, given), "the result looks at the storage of what was given."
    assert values(a) == [1, 2], f"double is right now, but a shows {values(a)}. Run the whole cell again."


doubled = exercise(
    "assignment/double",
    "`double(t)` shall return the doubled numbers and leave the caller's tensor alone: afterwards `a` shows `[1, 2]`.",
    check=_check_doubled,
    start="def double(t):\n    t *= 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])\nb = double(a)",
    hints=[
        "When the function is called, its `t` becomes a second name of the tensor `a`.",
        "`t *= 2` writes. Which line computes instead?",
    ],
    solution="def double(t):\n    t = t * 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])\nb = double(a)",
    wrong={
        "def double(t):\n    t * 2\n\n\na = torch.tensor([1.0, 2.0])": "returns nothing",
        "def double(t):\n    t * 2\n    return t\n\n\na = torch.tensor([1.0, 2.0])": "gives [3.0, 5.0]",
        "def double(t):\n    s = t\n    s *= 2\n    return s\n\n\na = torch.tensor([1.0, 2.0])": "hands back the very tensor",
        "def double(t):\n    t *= 2\n    return t + 0\n\n\na = torch.tensor([1.0, 2.0])": "still writes into it",
        "def double(t):\n    return t * 2\n\n\na = torch.tensor([1.0, 2.0])\na *= 2": "Run the whole cell",
    },
    right="inside the function, the name t was tied to a new tensor.",
    title="Exercise 2",
)


def _check_rows(table):
    assert isinstance(table, list) and len(table) == 3 and all(map(is_tensor, table)), (
        "table has to be a list of three tensors."
    )
    assert table[0] is not table[1] and table[1] is not table[2] and table[0] is not table[2], (
        "some places of the list hold one and the same tensor."
    )
    assert not any(same_storage(table[i], table[j]) for i, j in ((0, 1), (1, 2), (0, 2))), (
        "three tensors, but they look at one storage."
    )
    assert [values(t) for t in table] == [[1, 1], [0, 0], [0, 0]], f"table shows {[values(t) for t in table]}."


rows = exercise(
    "assignment/rows",
    "A table of three rows, each with two zeros; then 1 is added to the first row, and to that row alone.",
    check=_check_rows,
    start="table = [torch.zeros(2)] * 3\ntable[0] += 1",
    hints=[
        "How often does `torch.zeros(2)` run in that line?",
        "It has to run three times: `[... for _ in range(3)]` runs what stands before `for` each time.",
    ],
    solution="table = [torch.zeros(2) for _ in range(3)]\ntable[0] += 1",
    wrong={
        "table = torch.zeros(3, 2)\ntable[0] += 1": "a list of three tensors",
        "row = torch.zeros(2)\ntable = [row, torch.zeros(2), row]\ntable[0] += 1": "one and the same tensor",
        "table = list(torch.zeros(2).expand(3, 2))\ntable[0] = table[0] + 1\ntable[1] = table[0][:]": "one storage",
        "table = [torch.zeros(2) for _ in range(3)]": "table shows [[0.0, 0.0], [0.0, 0.0], [0.0, 0.0]]",
    },
    right="the line that makes a row ran three times.",
    title="Exercise 3",
)
