"""Beyond the copy methods: conversions, NumPy, deep copies, slices and indices."""

from .. import predict
from ..looks import values
from ..questions import cells, same_storage, same_tensor, value, version
from ..quiz import (
    CheckedFact,
    are_tensors,
    is_still_of_line,
    name_elements,
    needs_no_grad,
    share_no_cells,
    shows_values,
    was_left_alone,
    was_written,
)
from ..wording import gettext
from . import task

families = predict(
    """
    x = torch.tensor([1.0, 2.0, 3.0])
    t = x.to(torch.float32)
    n = torch.from_numpy(x.numpy())
    s = x[0:2]
    i = x[[0, 1]]
    z = torch.zeros(8)[0:2]
    x += 10
    """,
    [
        same_tensor("x", "t", wrong={"no": "to always copies"}),
        same_storage("x", "n", wrong={"no": "numpy() copies"}),
        same_storage("x", "s", wrong={"no": "a view is a copy"}),
        value("i", wrong={"[11, 12]": "indexing is a view"}),
        version("s", wrong={"0": "a counter for each tensor"}),
        version("n", wrong={"1": "shared memory, shared counter"}),
        cells("z", wrong={"2": "a slice frees the rest"}),
    ],
    key="beyond/families",
    title="to, from_numpy, a slice, an index",
)


@task(
    "beyond/percent",
    "`to_percent(x)` should return the numbers times 100 as `float32`, and leave `x` alone, whatever its dtype. Fix the function.",
    about="percent for every dtype",
    start="def to_percent(x):\n    y = x.to(torch.float32)\n    y *= 100\n    return y",
    hints=[
        "Call `to_percent` with a `float32` tensor, and look at that tensor afterwards.",
        "Do not write: compute.",
    ],
    solution="def to_percent(x):\n    y = x.to(torch.float32)\n    y = y * 100\n    return y",
    wrong={
        "def to_percent(x):\n    return x * 100": "returns torch.float64",
        "def to_percent(x):\n    y = x.float()\n    y.mul_(100)\n    return y + 0": "changes the numbers of that tensor",
        "def to_percent(x):\n    return x.to(torch.float32)": "to_percent(x) shows [0.5, 0.25]",
        "def to_percent(x):\n    return (x * 100).tolist()": "of type list",
        "def to_percent(x):\n    y = x.float()\n    y *= 100\n    z = y.clone()\n    y /= 100\n    return z": "x._version is 2; it should be 0",
    },
    right="the result has cells of its own, also where `x` has the right dtype already and `to` would give back `x` itself.",
)
def scaled(to_percent, torch):
    # `float32`, too: there `to` gives back `x` itself, and a write reaches the caller.
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor([0.5, 0.25], dtype=dtype)
        got = to_percent(x)
        result = {"to_percent(x)": got}
        yield are_tensors(**result)
        yield shows_values([0.5, 0.25], x=x).with_objection(
            gettext(
                "given a tensor of `{dtype}`, your function changes the numbers of that tensor.",
                dtype=dtype,
            )
        )
        yield CheckedFact(
            got.dtype == torch.float32,
            gettext(
                "your function returns `{dtype}`; it should return `torch.float32`.",
                dtype=got.dtype,
            ),
        )
        yield shows_values([50, 25], **result)
        yield share_no_cells(x=x, **result)
        yield was_left_alone(x=x)


@task(
    "beyond/mask",
    "Set the negative numbers of `x` to 0, in `x` itself. Change the last line.",
    about="negative numbers become 0",
    start="x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x < 0][:] = 0.0",
    hints=[
        "`x[x < 0]` is a copy. The second pair of brackets writes into that copy.",
        "One pair of brackets, on the left side.",
    ],
    solution="x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x < 0] = 0.0",
    wrong={
        "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nnegative = x[x < 0]\nnegative.zero_()\nx[0] += 0": "x shows [-1, 2, -3, 4]",
        "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx[x > 0] = 0.0": "x shows [-1, 0, -3, 0]",
        "x = x.clamp(min=0)": "x._version is 0",
        "x = [0.0, 2.0, 0.0, 4.0]": "of type list",
        "x = torch.tensor([-1.0, 2.0, -3.0, 4.0])\nx = x.clone()\nx[x < 0] = 0.0": "x is another tensor than the one that x = torch.tensor([-1.0, 2.0, -3.0, 4.0]) makes",
    },
    right="the write went into the cells of `x`, and not into a copy that `x[mask]` makes.",
)
def picked(x):
    yield shows_values([0, 2, 0, 4], x=x)
    # A new tensor with these numbers is not what was asked for, written to or not.
    yield is_still_of_line("x = torch.tensor([-1.0, 2.0, -3.0, 4.0])", x=x)
    yield was_written(x=x)


@task(
    "beyond/best",
    "`best` should keep the layer's numbers from before the write, as a dict of tensors that require no grad. "
    "Change the line of `best`.",
    about="the numbers before the write",
    start="torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = dict(layer.state_dict())\n"
    "with torch.no_grad():\n    layer.weight.fill_(99.0)",
    hints=[
        "A new dict holds the same tensors.",
        "`copy.deepcopy(...)`, or a clone of each tensor.",
    ],
    solution="import copy\n\ntorch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = copy.deepcopy(layer.state_dict())\n"
    "with torch.no_grad():\n    layer.weight.fill_(99.0)",
    wrong={
        "best = {k: v[:] for k, v in layer.state_dict().items()}": "best['weight'] and layer.weight look at the same cells",
        "import copy\n\nbest = copy.deepcopy(layer.state_dict())": "best['weight'] shows [[99]]",
        "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1)\nbest = {k: v.clone() for k, v in layer.named_parameters()}\n"
        "with torch.no_grad():\n    layer.weight.fill_(99.0)": "so best['weight'] requires grad, too: its node is CloneBackward0",
        "import copy\n\nlayer = torch.nn.Linear(1, 1)\nbest = copy.deepcopy(layer.state_dict())": "layer.weight shows [[-0.823045]]",
        "best = [p.detach().clone() for p in layer.parameters()]": "a dict with weight and bias",
    },
    right="`best` has cells of its own: a `state_dict` by itself gives those of the layer.",
)
def deep(layer, best):
    yield CheckedFact(
        isinstance(best, dict) and set(best) == {"weight", "bias"},
        gettext("`best` has to be a dict with `weight` and `bias`."),
    )
    weight, bias = {"layer.weight": layer.weight}, {"layer.bias": layer.bias}
    yield shows_values([[99]], **weight)
    yield share_no_cells(**name_elements(best=best), **weight, **bias)
    for name in best:
        yield needs_no_grad(**{f"best[{name!r}]": best[name]})
    # The numbers of this seed: those of a layer made anew are others.
    yield shows_values([[-0.007487]], **{"best['weight']": best["weight"]})
    yield shows_values(values(layer.bias), **{"best['bias']": best["bias"]})
