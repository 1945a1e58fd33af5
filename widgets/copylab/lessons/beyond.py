"""Beyond the copy methods: conversions, NumPy, deep copies, slices and indices."""

from copylab import exercise, predict
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import count, same_tensor, value, version
from copylab.questions import same_storage as shared

families = predict(
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    t = x.to(torch.float32)
    n = torch.from_numpy(x.numpy())
    s = x[0:2]
    i = x[[0, 1]]
    x += 10
    """,
    [
        same_tensor("x", "t", wrong={"no": "to always copies"}),
        shared("x", "n", wrong={"no": "numpy() copies"}),
        shared("x", "s", wrong={"no": "a view is a copy"}),
        shared("x", "i", wrong={"yes": "indexing is a view"}),
        value("i", wrong={"[11, 12]": "indexing is a view"}),
        version("s", wrong={"0": "a counter for each tensor"}),
        version("n", wrong={"1": "shared memory, shared counter"}),
        count("storages"),
    ],
    key="beyond/families",
)


def _check_scaled(to_percent, torch):
    assert callable(to_percent), "to_percent is no function any more."
    for dtype in (torch.float64, torch.float32):
        given = torch.tensor([0.5, 0.25], dtype=dtype)
        got = to_percent(given)
        assert is_tensor(got), f"to_percent gives something of the type {type(got).__name__}."
        assert got.dtype == torch.float32, f"it returns {got.dtype}, and torch.float32 is asked for."
        assert values(got) == [50, 25], f"to_percent([0.5, 0.25]) gives {values(got)}."
        assert values(given) == [0.5, 0.25], f"given a tensor of {dtype}, it changes the caller's numbers."
        assert not same_storage(got, given), "the result looks at the cells of what was given."


scaled = exercise(
    "beyond/percent",
    "`to_percent(x)` returns the numbers times 100, as `float32`, and leaves `x` alone, whatever its dtype. Mend it.",
    check=_check_scaled,
    start="def to_percent(x):\n    y = x.to(torch.float32)\n    y *= 100\n    return y",
    hints=["Call it with a `float32` tensor and look at that tensor afterwards.", "Do not write: compute."],
    solution="def to_percent(x):\n    y = x.to(torch.float32)\n    y = y * 100\n    return y",
    wrong={
        "def to_percent(x):\n    return x * 100": "returns torch.float64",
        "def to_percent(x):\n    y = x.float()\n    y.mul_(100)\n    return y + 0": "changes the caller's numbers",
        "def to_percent(x):\n    return x.to(torch.float32)": "gives [0.5, 0.25]",
        "def to_percent(x):\n    return (x * 100).tolist()": "of the type list",
    },
    right="it converts, computes, and writes into nobody's cells.",
    title="Exercise 1",
)


def _check_picked(x):
    assert is_tensor(x), f"x is of the type {type(x).__name__}, and a tensor is asked for."
    assert values(x) != [-1, 2, -3, 4], "x shows no change: the zeros went into a copy."
    assert values(x) == [0, 2, 0, 4], f"x shows {values(x)}, and [0, 2, 0, 4] is asked for."
    assert x._version != 0, "the numbers are right, but x is a new tensor: write into the one that is there."


picked = exercise(
    "beyond/mask",
    "The negative numbers of `x` shall be 0, written into `x` itself. Change the last line.",
    check=_check_picked,
    start="x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x < 0][:] = 0.0",
    hints=[
        "`x[x < 0]` is a copy. The second pair of brackets writes into it.",
        "One pair of brackets, on the left side.",
    ],
    solution="x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x < 0] = 0.0",
    wrong={
        "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nnegative = x[x < 0]\nnegative.zero_()\nx[0] += 0": "went into a copy",
        "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x > 0] = 0.0": "x shows [-1.0, 0.0",
        "x = x.clamp(min=0)": "x is a new tensor",
        "x = [0.0, 2.0, 0.0, 4.0]": "of the type list",
    },
    right="brackets on the left say where to write.",
    title="Exercise 2",
)


def _check_deep(layer, best):
    assert isinstance(best, dict) and set(best) == {"weight", "bias"}, "best has to be a dict with weight and bias."
    assert values(layer.weight) == [[99]], f"the layer holds {values(layer.weight)}, and [[99]] was written into it."
    shares = [name for name, t in best.items() if same_storage(t, getattr(layer, name))]
    assert not shares, f"best[{shares[0]!r}] looks at the cells of the layer."
    assert values(best["weight"]) != [[99]], "best holds the 99: it was made after the write."
    assert not any(t.requires_grad for t in best.values()), (
        "the tensors in best require grad: they lead back to the layer."
    )


deep = exercise(
    "beyond/best",
    "`best` shall keep the layer's numbers as they were before the write. Change the line of `best`.",
    check=_check_deep,
    start="torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = dict(layer.state_dict())\n"
    "with torch.no_grad():\n    layer.weight.fill_(99.0)",
    hints=["A new dict holds the same tensors.", "`copy.deepcopy(...)`, or a clone of each tensor."],
    solution="import copy\n\ntorch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = copy.deepcopy(layer.state_dict())\n"
    "with torch.no_grad():\n    layer.weight.fill_(99.0)",
    wrong={
        "best = {k: v[:] for k, v in layer.state_dict().items()}": "best['weight'] looks at",
        "import copy\n\nbest = copy.deepcopy(layer.state_dict())": "made after the write",
        "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = {k: v.clone() for k, v in layer.named_parameters()}\n"
        "with torch.no_grad():\n    layer.weight.fill_(99.0)": "they lead back to the layer",
        "import copy\n\nlayer = torch.nn.Linear(1, 1)\nbest = copy.deepcopy(layer.state_dict())": "the layer holds",
        "best = [p.detach().clone() for p in layer.parameters()]": "a dict with weight and bias",
    },
    right="copies of the tensors, not only of the dict.",
    title="Exercise 3",
)
