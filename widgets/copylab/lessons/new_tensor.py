"""`new_tensor`: who decides what, a target like its scores, a function that works for every dtype."""

from __future__ import annotations

from typing import Any

from copylab.looks import is_tensor, same_storage, values
from copylab.questions import requires_grad, value
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.misconceptions import Misconception
from copylab.quiz.prediction import predict
from copylab.quiz.question import Question

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


def _check_targets(scores: Any, target: Any) -> str | None:
    if not is_tensor(target):
        return f"target is of the type {type(target).__name__}, and a tensor is asked for."
    if target is scores or same_storage(target, scores):
        return "target looks at the cells of scores."
    if target.requires_grad:
        return "target requires grad. What is compared with needs none."
    if values(target) != [0, 1]:
        return f"target shows {values(target)}, and [0, 1] is asked for."
    if target.dtype != scores.dtype:
        return f"target is of the dtype {target.dtype}, scores of {scores.dtype}."
    return None


targets = exercise(
    "new_tensor/targets",
    "`target` shall hold the numbers 0 and 1, in the dtype and on the device of `scores`, whatever they are. Change the "
    "last line, without naming a dtype.",
    names=("scores", "target"),
    check=_check_targets,
    start="scores = torch.tensor([0.1, 0.9], dtype=torch.float64, requires_grad=True)\ntarget = torch.tensor([0, 1])",
    hints=["`scores` is the pattern.", "Put `scores` in front of the dot and the list behind it."],
    solution="scores = torch.tensor([0.1, 0.9], dtype=torch.float64, requires_grad=True)\n"
    "target = scores.new_tensor([0, 1])",
    wrong=[
        Wrong("target = torch.tensor([0.0, 1.0])", says="of the dtype torch.float32"),
        Wrong("target = scores.detach().round()\ntarget[0] = 1", says="target shows [1.0, 1.0]"),
        Wrong("target = scores.detach()", says="looks at the cells of scores"),
        Wrong("target = scores.new_tensor([0, 1], requires_grad=True)", says="target requires grad"),
        Wrong("target = [0, 1]", says="of the type list"),
    ],
    right="like scores, whatever scores is.",
    title="Exercise 1",
)


def _check_weights(weighted: Any, torch: Any) -> str | None:
    if not callable(weighted):
        return "weighted is no function any more."
    for dtype in (torch.float32, torch.float64, torch.float16):
        x = torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=True)
        got = weighted(x)
        if not is_tensor(got):
            return f"weighted gives something of the type {type(got).__name__}."
        if values(got) != 21:
            return f"weighted([1, 2]) gives {values(got)}, and 1 + 20 is 21."
        if got.dtype != dtype:
            return f"given {dtype}, it returns {got.dtype}."
        if not got.requires_grad:
            return "the result has no way back to x any more."
    return None


weights = exercise(
    "new_tensor/weights",
    "`weighted(x)` shall return a result of the dtype of `x`. As it stands, a `float16` `x` gives a `float32` result. "
    "Change the first line of the function.",
    names=("weighted",),
    check=_check_weights,
    start="def weighted(x):\n    factors = torch.tensor([1.0, 10.0])\n    return (x * factors).sum()",
    hints=["The factors are of the dtype that Python's numbers become.", "Let `x` decide: it can make the factors."],
    solution="def weighted(x):\n    factors = x.new_tensor([1.0, 10.0])\n    return (x * factors).sum()",
    wrong=[
        Wrong(
            "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float64)\n    return (x * factors).sum()",
            says="given torch.float32, it returns torch.float64",
        ),
        Wrong(
            "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float16)\n    return (x * factors).sum().float()",
            says="given torch.float64, it returns torch.float32",
        ),
        Wrong("def weighted(x):\n    return x.new_tensor(21.0)", says="no way back"),
        Wrong(
            "def weighted(x):\n    factors = x.new_tensor([1.0, 1.0])\n    return (x * factors).sum()", says="gives 3.0"
        ),
    ],
    right="the factors are made after the pattern of x.",
    title="Exercise 2",
)
