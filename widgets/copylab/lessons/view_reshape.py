"""view and reshape: what shares and what copies, columns as rows, a copy in another shape, rows that can be written."""

from copylab import exercise, predict
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import count, same_tensor, value, version
from copylab.questions import same_storage as shared

shapes = predict(
    """
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    v = x.view(4)
    r = x.reshape(4)
    s = x.t().reshape(4)
    x += 10
    """,
    [
        same_tensor("x", "v"),
        shared("x", "v", wrong={"no": "a view is a copy"}),
        shared("x", "r", wrong={"no": "reshape is a copy"}),
        shared("x", "s", wrong={"yes": "reshape is a view"}),
        count("storages"),
        value("r", wrong={"[1, 2, 3, 4]": "reshape is a copy"}),
        value("s", wrong={"[11, 13, 12, 14]": "reshape is a view"}),
        version("v", wrong={"0": "a counter for each tensor"}),
        version("s", wrong={"1": "reshape is a view"}),
    ],
    key="view_reshape/shapes",
)


def _check_columns(x, y):
    assert is_tensor(y), f"y is of the type {type(y).__name__}, and a tensor is asked for."
    assert tuple(y.shape) == (3, 2), f"y has the shape {tuple(y.shape)}, and (3, 2) is asked for."
    assert values(y) != [[0, 1], [2, 3], [4, 5]], (
        "y reads the cells in their order: [0, 1], [2, 3], [4, 5]. The columns of x are [0, 3], [1, 4], [2, 5]."
    )
    assert values(y) == [[0, 3], [1, 4], [2, 5]], f"y shows {values(y)}."
    assert same_storage(x, y), "the numbers are right, and they were copied: y has a storage of its own."


columns = exercise(
    "view_reshape/columns",
    "The rows of `y` shall be the columns of `x`: `[0, 3]`, `[1, 4]`, `[2, 5]`, without copying a number.",
    check=_check_columns,
    start="x = torch.arange(6.0).view(2, 3)\ny = x.view(3, 2)",
    hints=["`view` reads the cells in their order.", "Which call swaps the strides?"],
    solution="x = torch.arange(6.0).view(2, 3)\ny = x.t()",
    wrong={
        "y = (x + 0).view(3, 2)": "reads the cells in their order",
        "y = x.t().contiguous()": "they were copied",
        "y = x": "has the shape (2, 3)",
        "y = x.t().flip(0)": "y shows [[2.0, 5.0]",
        "y = x.t().tolist()": "of the type list",
    },
    right="the strides are swapped, and no number moved.",
    title="Exercise 1",
)


def _check_independent(x, flat):
    assert is_tensor(flat), f"flat is of the type {type(flat).__name__}, and a tensor is asked for."
    assert tuple(flat.shape) == (4,), f"flat has the shape {tuple(flat.shape)}, and (4,) is asked for."
    assert not same_storage(x, flat), "flat looks at the cells of x: the write is seen in both."
    assert values(x) == [[1, 2], [3, 4]], f"x shows {values(x)}: it was written to before it was copied."
    assert values(flat) == [11, 12, 13, 14], f"flat shows {values(flat)}, and [11, 12, 13, 14] is asked for."


_INDEPENDENT = "x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])\n"

independent = exercise(
    "view_reshape/independent",
    "`flat` shall show `[11, 12, 13, 14]`, and `x` shall stay as it is, whatever `x` may look like in memory. Change "
    "the second line.",
    check=_check_independent,
    start=_INDEPENDENT + "flat = x.reshape(4)\nflat += 10",
    hints=["Here `reshape` gives a view.", "Copy first, then reshape."],
    solution=_INDEPENDENT + "flat = x.clone().view(4)\nflat += 10",
    wrong={
        _INDEPENDENT + "flat = x.view(4)\nflat += 5\nflat += 5\nx = flat.view(2, 2)": "seen in both",
        _INDEPENDENT + "flat = x.clone().view(4)": "flat shows [1.0, 2.0",
        _INDEPENDENT + "flat = x.clone()\nflat += 10": "has the shape (2, 2)",
        _INDEPENDENT + "x += 10\nflat = x.clone().view(4)": "before it was copied",
    },
    right="a copy, and then another shape over the copy.",
    title="Exercise 2",
)


def _check_stretched(row, table):
    assert is_tensor(table), f"table is of the type {type(table).__name__}, and a tensor is asked for."
    assert tuple(table.shape) == (3, 2), f"table has the shape {tuple(table.shape)}, and (3, 2) is asked for."
    assert 0 not in table.stride(), (
        f"table has the stride {table.stride()}: its rows are the same cells, and no single one can be written."
    )
    assert not same_storage(row, table), "table looks at the cells of row."
    assert values(row) == [1, 2], f"row shows {values(row)}, and it shall stay [1, 2]."
    assert values(table) == [[101, 102], [1, 2], [1, 2]], f"table shows {values(table)}."


stretched = exercise(
    "view_reshape/rows",
    "Three rows `[1, 2]`; then 100 is added to the first row alone (`table[0] += 100`). `row` stays as it is.",
    check=_check_stretched,
    start="row = torch.tensor([1.0, 2.0])\ntable = row.expand(3, 2)",
    hints=["An expanded tensor has one row of cells, read three times.", "`repeat` copies. So does `clone`."],
    solution="row = torch.tensor([1.0, 2.0])\ntable = row.repeat(3, 1)\ntable[0] += 100",
    wrong={
        "table = row.expand(3, 2)[:]\ntable[0] += 100": "has the stride (0, 1)",
        "table = row.repeat(3, 1)": "table shows [[1.0, 2.0], [1.0, 2.0]",
        "table = row.expand(3, 2).clone()\ntable += 100": "table shows [[101.0, 102.0], [101.0",
        "table = row.repeat(3)\ntable[0] += 100": "has the shape (6,)",
        "row += 100\ntable = row.repeat(3, 1)": "it shall stay [1, 2]",
    },
    right="three rows of cells, and one of them was written.",
    title="Exercise 3",
)
