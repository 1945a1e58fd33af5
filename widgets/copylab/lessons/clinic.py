"""The clinic, first half: six programs with memory shared where it should not be, or copied where it should be shared."""

from __future__ import annotations

from typing import Any

from copylab import Exercise, exercise, predict
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import ENDS, gradient, outcome, value, version

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


def patient(number: int, name: str, task: str, check: Any, **rest: Any) -> Exercise:
    """Make a broken program an exercise; the arguments are those of `exercise`."""
    return exercise(f"clinic/{name}", task, check=check, title=f"Patient {number}", **rest)


def _check_best(layer, best):
    assert isinstance(best, dict) and "weight" in best, "best has to be a state dict, with a weight."
    assert values(layer.weight) == [[99]], "the training is gone: the layer has to hold 99 at the end."
    assert not same_storage(best["weight"], layer.weight), (
        "best still looks at the cells of the layer: it holds the last weights, not the best."
    )
    assert not best["weight"].requires_grad, "the weight in best requires grad: it keeps a way back to the layer."
    assert values(best["weight"]) == [[1]], f"best holds {values(best['weight'])}, and the best weight was [[1]]."


best_weights = patient(
    1,
    "best",
    "After the training, the best weights were to be loaded again. They turn out to be the last ones. `best` shall "
    "hold the 1, as a dict of tensors that lead nowhere.",
    _check_best,
    start=_LAYER + "best = layer.state_dict()\n" + _TRAIN,
    hints=["What do `best['weight']` and `layer.weight` share?", "Copy the tensors, not only the dict."],
    solution=_LAYER + "best = {name: t.clone() for name, t in layer.state_dict().items()}\n" + _TRAIN,
    wrong={
        _LAYER + "best = dict(layer.state_dict(), extra=0)\n" + _TRAIN: "the last weights, not the best",
        _LAYER + "best = {n: p.clone() for n, p in layer.named_parameters()}\n" + _TRAIN: "keeps a way back",
        "best = {name: t.clone() for name, t in layer.state_dict().items()}": "best holds [[99.0]]",
        _LAYER + "best = {name: t.clone() for name, t in layer.state_dict().items()}": "the training is gone",
    },
    right="a state dict holds the module's own tensors; each needs a clone.",
)


_EMA = "for value in (2.0, 5.0):\n    with torch.no_grad():\n        layer.weight.fill_(value)\n"


def _check_average(layer, ema):
    assert isinstance(ema, dict) and is_tensor(ema.get("weight")), "ema has to be a dict with a weight."
    kept = ema["weight"]
    assert not same_storage(kept, layer.weight), f"ema looks at the cells of the layer; both are {values(kept)}."
    assert values(kept) == [[3.25]], f"ema is {values(kept)}, and half and half of 1, 2 and 5 gives 1.5, then [[3.25]]."
    assert not kept.requires_grad, (
        f"ema requires grad: its node is {kept.grad_fn.name()}, and the graph grows each round."
    )
    assert values(layer.weight) == [[5]], f"the layer holds {values(layer.weight)}, and 5 was written into it last."


average = patient(
    2,
    "average",
    "A running average of the weights, half old and half new, is always equal to the weights, and the layer does not "
    "hold what was written into it. `ema` shall be 3.25, the weight of `layer` 5.",
    _check_average,
    start=_LAYER
    + "ema = {name: p.detach() for name, p in layer.named_parameters()}\n"
    + _EMA
    + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)',
    hints=["`detach` copies nothing.", "`detach().clone()` when the average is made."],
    solution=_LAYER
    + "ema = {name: p.detach().clone() for name, p in layer.named_parameters()}\n"
    + _EMA
    + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)',
    wrong={
        _LAYER
        + "ema = {n: p.data for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(1.0)': "both are [[5.0]]",
        _LAYER
        + "ema = {n: p.clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '    ema["weight"] = 0.5 * ema["weight"] + 0.5 * layer.weight': "the graph grows each round",
        _LAYER
        + "ema = {n: p.detach().clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(0.5).add_(layer.weight)': "ema is [[6.25]]",
        _LAYER
        + "ema = {n: p.detach().clone() for n, p in layer.named_parameters()}\n"
        + _EMA
        + '        ema["weight"].mul_(0.5).add_(0.5 * layer.weight)\n'
        + 'with torch.no_grad():\n    layer.weight.copy_(ema["weight"])': "the layer holds [[3.25]]",
        "ema = 3.25": "a dict with a weight",
    },
    right="cells of its own, written in place inside no_grad.",
)


def _check_history(history):
    assert isinstance(history, list) and len(history) == 3 and all(map(is_tensor, history)), (
        "history has to be a list of three tensors."
    )
    assert history[0] is not history[1], "history holds one tensor three times."
    assert not same_storage(history[0], history[1]), (
        "three tensors over the same cells: all of them show the last position."
    )
    assert [values(t) for t in history] == [[1], [2], [3]], f"history shows {[values(t) for t in history]}."


_STEPS = "position = torch.zeros(1)\nhistory = []\nfor _ in range(3):\n    position += 1\n    "
film = patient(
    3,
    "history",
    "A film of a moving point shows the same picture in every frame. `history` shall show `[1]`, `[2]`, `[3]`.",
    _check_history,
    start=_STEPS + "history.append(position)",
    hints=["How many tensors are in the list?", "Append numbers of their own."],
    solution=_STEPS + "history.append(position.clone())",
    wrong={
        _STEPS + "history.append(position.detach())": "all of them show the last position",
        _STEPS + "history.append(position)\nhistory[2] = position.clone()": "one tensor three times",
        _STEPS + "history.append(position.item())": "a list of three tensors",
        _STEPS + "history.append(position.clone() * 2)": "history shows [[2.0]",
    },
    right="a clone each time.",
)


def _check_wide(row, wide):
    assert is_tensor(wide) and tuple(wide.shape) == (3, 2), "wide has to be a tensor of the shape (3, 2)."
    assert 0 not in wide.stride(), "the three rows of wide are still the same two cells."
    assert values(row) == [1, 2], f"row has become {values(row)}."
    assert values(wide) == [[1, 2], [11, 12], [1, 2]], (
        f"wide shows {values(wide)}, and only its middle row was to change."
    )


_ROW = "row = torch.tensor([1.0, 2.0])\n"
wide_rows = patient(
    4,
    "expand",
    "10 is added to the middle row of `wide`, and all three rows change, and `row` with them.",
    _check_wide,
    start=_ROW + "wide = row.expand(3, 2)\nwide[1] += 10",
    hints=["Look at `wide.stride()`.", "`expand` repeats the reading, `repeat` the numbers."],
    solution=_ROW + "wide = row.repeat(3, 1)\nwide[1] += 10",
    wrong={
        _ROW + "wide = row.expand(3, 2).detach()\nwide[1] += 0": "still the same two cells",
        _ROW + "wide = row.repeat(3, 1)\nwide += 10": "only its middle row",
        _ROW + "row += 10\nwide = row.repeat(3, 1)": "row has become [11.0, 12.0]",
        _ROW + "wide = row.repeat(3)\nwide[1] += 10": "of the shape (3, 2)",
    },
    right="three rows of cells.",
)


def _check_mask(x):
    assert is_tensor(x), "x has to be a tensor."
    assert values(x) != [-2, 5, -1, 7], "x is as it was: the zeros went into a copy."
    assert values(x) == [-2, 0, -1, 7], f"x shows {values(x)}, and [-2, 0, -1, 7] is asked for."


_X = "x = torch.tensor([-2.0, 5.0, -1.0, 7.0])\n"
chained = patient(
    5,
    "mask",
    "Of the positive numbers, those below 6 shall become 0. No error, and nothing happens.",
    _check_mask,
    start=_X + "positive = x > 0\nx[positive][x[positive] < 6] = 0.0",
    hints=["The first pair of brackets makes a copy.", "One mask made of two: `(x > 0) & (x < 6)`."],
    solution=_X + "positive = x > 0\nx[positive & (x < 6)] = 0.0",
    wrong={
        _X + "positive = x > 0\nsmall = x[positive]\nsmall[small < 6] = 0.0\nx[0] += 0": "went into a copy",
        _X + "x[x < 6] = 0.0": "x shows [0.0, 0.0, 0.0, 7.0]",
        _X + "x[x > 0] = 0.0": "x shows [-2.0, 0.0, -1.0, 0.0]",
        "x = [-2.0, 0.0, -1.0, 7.0]": "has to be a tensor",
    },
    right="one pair of brackets on the left side.",
)


def _check_array(data, array):
    assert is_tensor(data), "data has to be a tensor."
    assert float(array.sum()) == 0, "array was to be set to 0."
    assert values(data) != [0, 0], "data shows zeros: it looks at the memory of array."
    assert values(data) == [1, 2], f"data shows {values(data)}, and [1, 2] was read in."


_ARRAY = "import numpy as np\n\narray = np.array([1.0, 2.0])\n"
numpy_buffer = patient(
    6,
    "numpy",
    "A buffer is used again for the next file, and the data that was read before is gone. `data` shall stay `[1, 2]`.",
    _check_array,
    start=_ARRAY + "data = torch.from_numpy(array)\narray[:] = 0.0",
    hints=["Who else looks at that memory?", "`torch.tensor(array)` copies. So does `array.copy()`."],
    solution=_ARRAY + "data = torch.tensor(array)\narray[:] = 0.0",
    wrong={
        _ARRAY + "data = torch.as_tensor(array).detach()[:]\narray[:] = 0.0": "looks at the memory of array",
        _ARRAY + "data = torch.tensor(array)": "was to be set to 0",
        _ARRAY + "array[:] = 0.0\ndata = torch.ones(2)": "data shows [1.0, 1.0]",
        _ARRAY + "data = array.copy()\narray[:] = 0.0": "has to be a tensor",
    },
    right="a copy of what was read.",
)
