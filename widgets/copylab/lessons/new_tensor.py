"""`new_tensor`: who decides what, a target like its scores, a function that works for every dtype."""

from __future__ import annotations

from copylab import Misconception, Question, exercise, predict
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import requires_grad, value
from copylab.questions import same_storage as shared

DATA = Misconception(
    "the data decides the dtype",
    "`x.new_tensor(k)` has the dtype of `k`, for the numbers come from there.",
    "Numbers and shape come from the data; dtype and device from the tensor in front of the dot.",
)
RECEIVER = Misconception(
    "the receiver gives the numbers",
    "`x.new_tensor(k)` is a copy of `x`.",
    "The tensor in front of the dot is only the pattern. The numbers are those of the argument.",
)
DTYPES = ("torch.float32", "torch.float64", "torch.int64")


def _dtype(name: str, wrong: str) -> Question:
    return Question(
        f"What is `{name}.dtype`?",
        DTYPES,
        answer=lambda run: f"torch.{run.tensor(name).dtype}".replace("torch.torch.", "torch."),
        wrong={wrong: DATA},
        because=lambda run: f"`{name}` is a tensor of the dtype `{run.tensor(name).dtype}`.",
    )


pattern = predict(
    """
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    k = torch.tensor([7, 8])
    a = x.new_tensor(k)
    b = k.new_tensor(x)
    a += 1
    """,
    [
        value("a", wrong={"[2, 3]": RECEIVER, "[1, 2]": RECEIVER}),
        _dtype("a", "torch.int64"),
        _dtype("b", "torch.float64"),
        shared("k", "a", wrong={"yes": "a copy shares memory"}),
        value("k", wrong={"[8, 9]": "a copy shares memory"}),
        requires_grad("a", wrong={"yes": "new_tensor keeps the history"}),
        requires_grad("b", wrong={"yes": "new_tensor keeps the history"}),
    ],
    key="new_tensor/pattern",
)


def _check_targets(scores, target):
    assert is_tensor(target), f"target is of the type {type(target).__name__}, and a tensor is asked for."
    assert target is not scores and not same_storage(target, scores), "target looks at the cells of scores."
    assert not target.requires_grad, "target requires grad. What is compared with needs none."
    assert values(target) == [0, 1], f"target shows {values(target)}, and [0, 1] is asked for."
    assert target.dtype == scores.dtype, f"target is of the dtype {target.dtype}, scores of {scores.dtype}."


targets = exercise(
    "new_tensor/targets",
    "`target` shall hold the numbers 0 and 1, in the dtype and on the device of `scores`, whatever they are. Change the "
    "last line, without naming a dtype.",
    check=_check_targets,
    start="scores = torch.tensor([0.1, 0.9], dtype=torch.float64, requires_grad=True)\ntarget = torch.tensor([0, 1])",
    hints=["`scores` is the pattern.", "Put `scores` in front of the dot and the list behind it."],
    solution="scores = torch.tensor([0.1, 0.9], dtype=torch.float64, requires_grad=True)\n"
    "target = scores.new_tensor([0, 1])",
    wrong={
        "target = torch.tensor([0.0, 1.0])": "of the dtype torch.float32",
        "target = scores.detach().round()\ntarget[0] = 1": "target shows [1.0, 1.0]",
        "target = scores.detach()": "looks at the cells of scores",
        "target = scores.new_tensor([0, 1], requires_grad=True)": "target requires grad",
        "target = [0, 1]": "of the type list",
    },
    right="like scores, whatever scores is.",
    title="Exercise 1",
)


def _check_weights(weighted, torch):
    assert callable(weighted), "weighted is no function any more."
    for dtype in (torch.float32, torch.float64, torch.float16):
        x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        got = weighted(x)
        assert is_tensor(got), f"weighted gives something of the type {type(got).__name__}."
        assert values(got) == 21, f"weighted([1, 2]) gives {values(got)}, and 1 + 20 is 21."
        assert got.dtype == dtype, f"given {dtype}, it returns {got.dtype}."
        assert got.requires_grad, "the result has no way back to x any more."


weights = exercise(
    "new_tensor/weights",
    "`weighted(x)` shall return a result of the dtype of `x`. As it stands, a `float16` `x` gives a `float32` result. "
    "Change the first line of the function.",
    check=_check_weights,
    start="def weighted(x):\n    factors = torch.tensor([1.0, 10.0])\n    return (x * factors).sum()",
    hints=["The factors are of the dtype that Python's numbers become.", "Let `x` decide: it can make the factors."],
    solution="def weighted(x):\n    factors = x.new_tensor([1.0, 10.0])\n    return (x * factors).sum()",
    wrong={
        "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float64)\n    return (x * factors).sum()": "given torch.float32, it returns torch.float64",
        "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float16)\n    return (x * factors).sum().float()": "given torch.float64, it returns torch.float32",
        "def weighted(x):\n    return x.new_tensor(21.0)": "no way back",
        "def weighted(x):\n    factors = x.new_tensor([1.0, 1.0])\n    return (x * factors).sum()": "gives 3.0",
    },
    right="the factors are made after the pattern of x.",
    title="Exercise 2",
)
