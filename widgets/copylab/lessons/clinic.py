"""The clinic, first half: six programs with memory shared where it should not be, or copied where it should be shared."""

from __future__ import annotations

import numpy as np

from copylab import exercise, predict
from copylab.questions import ENDS, gradient, outcome, value, version
from copylab.quiz.seen import Fact, apart, each, kept_from, needs_no_grad, shows, tensor_list, tensors
from tinytorch.viz.catalogue import gettext

_LAYER = "torch.manual_seed(0)\nlayer = torch.nn.Linear(1, 1, bias=False)\nwith torch.no_grad():\n    layer.weight.fill_(1.0)\n"
_TRAIN = "with torch.no_grad():\n    layer.weight.fill_(99.0)\n"


triage = predict(
    """
    w = torch.tensor([1.0], requires_grad=True)
    best = w.detach()
    kept = w.detach().clone()
    y = w.exp()
    z = w * w
    with torch.no_grad():
        w += 1
    y.backward()
    z.backward()
    """,
    [
        value("best", wrong={"[1]": "detach copies"}),
        value("kept", wrong={"[2]": "a copy shares memory"}),
        version("best", wrong={"0": "detach has its own counter"}),
        outcome(wrong={"line 8 raises an error": "every write breaks backward", ENDS: "no error, right gradient"}),
        gradient("w"),
    ],
    key="clinic/triage",
)


def _check_best(layer, best):
    yield Fact(isinstance(best, dict) and "weight" in best, "", gettext("best has to be a state dict, with a weight."))
    kept, own = {"best['weight']": best["weight"]}, {"layer.weight": layer.weight}
    yield tensors(**kept)
    yield shows([[99]], **own)
    yield apart(**kept, **own)
    yield needs_no_grad(**kept)
    yield shows([[1]], **kept)


best_weights = exercise(
    "clinic/best",
    "After training, somebody wanted to reload the best weights. They turn out to be the last ones. `best` should "
    "hold the 1, as a dict of tensors without a graph.",
    check=_check_best,
    title="Patient 1",
    start=_LAYER + "best = layer.state_dict()\n" + _TRAIN,
    hints=["What do `best['weight']` and `layer.weight` share?", "Copy the tensors, not only the dict."],
    solution=_LAYER + "best = {name: t.clone() for name, t in layer.state_dict().items()}\n" + _TRAIN,
    wrong={
        _LAYER
        + "best = dict(layer.state_dict(), extra=0)\n"
        + _TRAIN: "best['weight'] and layer.weight look at the same cells",
        _LAYER
        + "best = {n: p.clone() for n, p in layer.named_parameters()}\n"
        + _TRAIN: "best['weight'] requires grad: its node is CloneBackward0",
        "best = {name: t.clone() for name, t in layer.state_dict().items()}": "best['weight'] shows [[99]]",
        _LAYER + "best = {name: t.clone() for name, t in layer.state_dict().items()}": "layer.weight shows [[1]]",
    },
)


_EMA = "for value in (2.0, 5.0):\n    with torch.no_grad():\n        layer.weight.fill_(value)\n"


def _check_average(layer, ema):
    yield Fact(isinstance(ema, dict) and "weight" in ema, "", gettext("ema has to be a dict with a weight."))
    kept, own = {"ema['weight']": ema["weight"]}, {"layer.weight": layer.weight}
    yield tensors(**kept)
    yield apart(**kept, **own)
    yield shows([[3.25]], **kept)
    yield needs_no_grad(**kept)
    yield shows([[5]], **own)


average = exercise(
    "clinic/average",
    "A running average of the weights, half old and half new, always equals the weights, and the layer doesn't hold "
    "what was written into it. `ema` should be 3.25, and the weight of `layer` 5.",
    check=_check_average,
    title="Patient 2",
    start=_LAYER
    + "ema = {name: p.detach() for name, p in layer.named_parameters()}\n"
    + _EMA
    + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)',
    hints=["`detach` copies nothing.", "`detach().clone()` when you make the average."],
    solution=_LAYER
    + "ema = {name: p.detach().clone() for name, p in layer.named_parameters()}\n"
    + _EMA
    + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)',
    wrong={
        _LAYER
        + "ema = {n: p.data for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(1.0)': "ema['weight'] and layer.weight look at the same cells",
        _LAYER
        + "ema = {n: p.clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '    ema["weight"] = 0.5 * ema["weight"] + 0.5 * layer.weight': "ema['weight'] requires grad: its node is AddBackward0",
        _LAYER
        + "ema = {n: p.detach().clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(0.5).add_(layer.weight)': "ema['weight'] shows [[6.25]]",
        _LAYER
        + "ema = {n: p.detach().clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)\n'
        + 'with torch.no_grad():\n    layer.weight.copy_(ema["weight"])': "layer.weight shows [[3.25]]",
        "ema = 3.25": "a dict with a weight",
    },
)


def _check_history(history, position):
    yield tensor_list(3, history=history)
    yield apart(**each(history=history))
    yield kept_from(history=history, position=position)
    yield shows([[1], [2], [3]], history=history)


_STEPS = "position = torch.zeros(1)\nhistory = []\nfor _ in range(3):\n    position += 1\n    "
film = exercise(
    "clinic/history",
    "A film of a moving point shows the same picture in every frame. `history` should show `[1]`, `[2]`, `[3]`.",
    check=_check_history,
    title="Patient 3",
    start=_STEPS + "history.append(position)",
    hints=["How many tensors are in the list?", "Append numbers of their own."],
    solution=_STEPS + "history.append(position.clone())",
    wrong={
        _STEPS + "history.append(position.detach())": "history[0] and history[1] look at the same cells",
        _STEPS + "history.append(position)\nhistory[2] = position.clone()": "history[0] and history[1] are one tensor",
        _STEPS + "history.append(position.item())": "history[0] is of the type float",
        _STEPS + "history.append(position.clone() * 2)": "history shows [[2], [4], [6]]",
    },
)


def _check_wide(row, wide):
    yield tensors(wide=wide)
    yield Fact(0 not in wide.stride(), "", gettext("the three rows of wide are still the same two cells."))
    yield shows([1, 2], row=row)
    yield apart(wide=wide, row=row)
    yield shows([[1, 2], [11, 12], [1, 2]], wide=wide)


_ROW = "row = torch.tensor([1.0, 2.0])\n"
wide_rows = exercise(
    "clinic/expand",
    "The program adds 10 to the middle row of `wide`, but all three rows change, and `row` too.",
    check=_check_wide,
    title="Patient 4",
    start=_ROW + "wide = row.expand(3, 2)\nwide[1] += 10",
    hints=["Look at `wide.stride()`.", "`expand` repeats the reading, `repeat` the numbers."],
    solution=_ROW + "wide = row.repeat(3, 1)\nwide[1] += 10",
    wrong={
        _ROW + "wide = row.expand(3, 2).detach()\nwide[1] += 0": "still the same two cells",
        _ROW + "wide = row.repeat(3, 1)\nwide += 10": "wide shows [[11, 12], [11, 12], [11, 12]]",
        _ROW + "row += 10\nwide = row.repeat(3, 1)": "row shows [11, 12]",
        _ROW + "wide = row.repeat(3)\nwide[1] += 10": "wide shows [1, 12, 1, 2, 1, 2]",
    },
)


def _check_mask(x):
    yield tensors(x=x)
    yield shows([-2, 0, -1, 7], x=x)


_X = "x = torch.tensor([-2.0, 5.0, -1.0, 7.0])\n"
chained = exercise(
    "clinic/mask",
    "Of the positive numbers, those below 6 should become 0. No error, but nothing happens.",
    check=_check_mask,
    title="Patient 5",
    start=_X + "positive = x > 0\nx[positive][x[positive] < 6] = 0.0",
    hints=["The first pair of brackets makes a copy.", "One mask made of two: `(x > 0) & (x < 6)`."],
    solution=_X + "positive = x > 0\nx[positive & (x < 6)] = 0.0",
    wrong={
        _X + "positive = x > 0\nsmall = x[positive]\nsmall[small < 6] = 0.0\nx[0] += 0": "x shows [-2, 5, -1, 7]",
        _X + "x[x < 6] = 0.0": "x shows [0, 0, 0, 7]",
        _X + "x[x > 0] = 0.0": "x shows [-2, 0, -1, 0]",
        "x = [-2.0, 0.0, -1.0, 7.0]": "x is of the type list",
    },
)


def _check_array(data, array):
    yield tensors(data=data)
    yield shows([0, 0], array=array.tolist())
    together = np.shares_memory(data.detach().numpy(), array)
    yield Fact(not together, gettext("data and array share no memory."), gettext("data looks at the memory of array."))
    yield shows([1, 2], data=data)


_ARRAY = "import numpy as np\n\narray = np.array([1.0, 2.0])\n"
numpy_buffer = exercise(
    "clinic/numpy",
    "A buffer is reused for the next file, and the data that was read before is gone. `data` should stay `[1, 2]`.",
    check=_check_array,
    title="Patient 6",
    start=_ARRAY + "data = torch.from_numpy(array)\narray[:] = 0.0",
    hints=["Who else looks at that memory?", "`torch.tensor(array)` copies. So does `array.copy()`."],
    solution=_ARRAY + "data = torch.tensor(array)\narray[:] = 0.0",
    wrong={
        _ARRAY + "data = torch.as_tensor(array).detach()[:]\narray[:] = 0.0": "looks at the memory of array",
        _ARRAY + "data = torch.tensor(array)": "array shows [1, 2]",
        _ARRAY + "array[:] = 0.0\ndata = torch.ones(2)": "data shows [1, 1]",
        _ARRAY + "data = array.copy()\narray[:] = 0.0": "data is of the type ndarray",
    },
)
