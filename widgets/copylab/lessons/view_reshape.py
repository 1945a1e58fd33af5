"""view and reshape: what shares and what copies, columns as rows, a copy in another shape, rows that can be written."""

from .. import predict
from ..questions import count, same_storage, value, version
from ..quiz import (
    CheckedFact,
    are_tensors,
    follows_numbers,
    is_still_of_line,
    share_no_cells,
    share_storage,
    shows_values,
)
from ..wording import gettext
from . import task

shapes = predict(
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = x.view(4)
    r = x.reshape(4)
    s = x.t().reshape(4)
    x += 10
    """,
    [
        same_storage("x", "v", wrong={"no": "a view is a copy"}),
        same_storage("x", "r", wrong={"no": "reshape is a copy"}),
        same_storage("x", "s", wrong={"yes": "reshape is a view"}),
        count("storages"),
        value("r", wrong={"[1, 2, 3, 4]": "reshape is a copy"}),
        value("s", wrong={"[11, 13, 12, 14]": "reshape is a view"}),
        version("v", wrong={"0": "a counter for each tensor"}),
    ],
    key="view_reshape/shapes",
    title="view, reshape, and reshape after t",
)


@task(
    "view_reshape/columns",
    "The rows of `y` should be the columns of `x`: `[0, 3]`, `[1, 4]`, `[2, 5]`, without copying a number.",
    about="columns as rows",
    start="x = torch.arange(6.0).view(2, 3)\ny = x.view(3, 2)",
    hints=["`view` reads the cells in their order.", "Which call swaps the strides?"],
    solution="x = torch.arange(6.0).view(2, 3)\ny = x.t()",
    wrong={
        "y = (x + 0).view(3, 2)": "y shows [[0, 1], [2, 3], [4, 5]]",
        "y = x.t().contiguous()": "y has a storage of its own",
        "y = x": "y shows [[0, 1, 2], [3, 4, 5]]",
        "y = x.t().flip(0)": "y shows [[2, 5], [1, 4], [0, 3]]",
        "y = x.t().tolist()": "of type list",
        "x = torch.arange(6.0).view(2, 3)\ny = x.t().contiguous()\nx = y.t()": "x is another tensor than the one that x = torch.arange(6.0).view(2, 3) makes",
        "x = torch.tensor([[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]])\ny = x[:]": "x shows [[0, 3], [1, 4], [2, 5]]",
    },
    right="`y` is a view: it reads the cells of `x` in another order.",
)
def columns(x, y):
    yield shows_values([[0, 3], [1, 4], [2, 5]], y=y)
    yield share_storage(y=y, x=x)
    # A new `x` may be a view of a `y` that copied its numbers.
    yield shows_values([[0, 1, 2], [3, 4, 5]], x=x)
    yield is_still_of_line("x = torch.arange(6.0).view(2, 3)", x=x)


@task(
    "view_reshape/independent",
    "`flat` should show `[11, 12, 13, 14]`, and `x` shouldn't change. Change the second line.",
    about="a flat copy",
    given="x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\n",
    start="flat = x.reshape(4)\nflat += 10",
    hints=["Here `reshape` gives a view.", "Copy first, then reshape."],
    solution="flat = x.clone().view(4)\nflat += 10",
    wrong={
        "flat = x.view(4)\nflat += 5\nflat += 5\nx = flat.view(2, 2)": "flat and x look at the same cells",
        "flat = x.clone().view(4)": "flat shows [1, 2, 3, 4]",
        "flat = x.clone()\nflat += 10": "flat shows [[11, 12], [13, 14]]",
        "x += 10\nflat = x.clone().view(4)": "x shows [[11, 12], [13, 14]]",
        "flat = torch.tensor([11.0, 12.0, 13.0, 14.0])": "instead of [[1.0, 2.0], [3.0, 4.0]]",
    },
    right="`flat` has cells of its own, so the write did not reach `x`.",
)
def independent(x, flat):
    yield share_no_cells(flat=flat, x=x)
    yield shows_values([[1, 2], [3, 4]], x=x)
    yield shows_values([11, 12, 13, 14], flat=flat)
    yield follows_numbers(
        "[[1.0, 2.0], [3.0, 4.0]]",
        "[[5.0, 6.0], [7.0, 8.0]]",
        lambda flat: shows_values([15, 16, 17, 18], flat=flat),
    )


@task(
    "view_reshape/rows",
    "`table` should have three rows `[1, 2]`; then add 100 to the first row alone (`table[0] += 100`). `row` shouldn't change.",
    about="three rows, one of them changed",
    start="row = torch.tensor([1.0, 2.0])\ntable = row.expand(3, 2)",
    hints=[
        "An expanded tensor has one row of cells, read three times.",
        "`repeat` copies. So does `clone`.",
    ],
    solution="row = torch.tensor([1.0, 2.0])\ntable = row.repeat(3, 1)\ntable[0] += 100",
    wrong={
        "table = row.expand(3, 2)[:]\ntable[0] += 100": "has the stride (0, 1)",
        "table = row.repeat(3, 1)": "table shows [[1, 2], [1, 2], [1, 2]]",
        "table = row.expand(3, 2).clone()\ntable += 100": "table shows [[101, 102], [101, 102], [101, 102]]",
        "table = row.repeat(3)\ntable[0] += 100": "table shows [101, 2, 1, 2, 1, 2]",
        "row += 100\ntable = row.repeat(3, 1)": "row shows [101, 102]",
    },
    right="each row of `table` has cells of its own, so the write reached only one of them.",
)
def stretched(row, table):
    yield are_tensors(table=table)
    yield CheckedFact(
        0 not in table.stride(),
        gettext(
            "`table` has the stride `{stride}`: its rows are the same cells.", stride=table.stride()
        ),
    )
    yield share_no_cells(table=table, row=row)
    yield shows_values([1, 2], row=row)
    yield shows_values([[101, 102], [1, 2], [1, 2]], table=table)
    yield follows_numbers(
        "row = torch.tensor([1.0, 2.0])",
        "row = torch.tensor([3.0, 4.0])",
        lambda table: shows_values([[103, 104], [3, 4], [3, 4]], table=table),
    )
