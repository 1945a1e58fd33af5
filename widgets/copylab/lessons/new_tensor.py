"""`new_tensor`: who decides what, a target like its scores, a function that works for every dtype."""

from __future__ import annotations

import re

from .. import Misconception, Question, predict
from ..questions import requires_grad, same_storage, value
from ..quiz import (
    CheckedFact,
    QuizRun,
    RetestProgram,
    are_tensors,
    graph_leads_back,
    has_grad,
    needs_no_grad,
    share_no_cells,
    shows_values,
)
from ..wording import gettext
from . import task

DTYPES = ("torch.float32", "torch.float64", "torch.int64")


def _ask_dtype(name: str, wrong: str = "") -> Question:
    return Question(
        lambda: gettext("What is `{name}.dtype`?", name=name),
        DTYPES,
        answer=lambda run: f"torch.{run.tensor(name).dtype}".replace("torch.torch.", "torch."),
        wrong={wrong: DATA} if wrong else {},
        because=lambda run: _describe_dtype(run, name),
        name=f"What is `{name}.dtype`?",
    )


def _describe_dtype(run: QuizRun, name: str) -> str:
    dtype = run.tensor(name).dtype
    call = re.search(rf"\b{name} = (\w+)\.new_tensor\(", run.code)
    if call is None:
        return gettext("`{name}` is a tensor of the dtype `{dtype}`.", name=name, dtype=dtype)
    return gettext(
        "`{name}.dtype` is `{dtype}`, as `{x}` before the dot has it.",
        name=name,
        dtype=dtype,
        x=call[1],
    )


DATA = Misconception(
    "the data decides the dtype",
    "`new_tensor` gives the dtype of its argument, because the numbers come from there.",
    "Numbers and shape come from the data; dtype and device from the tensor before the dot.",
    (
        RetestProgram(
            "x = torch.tensor(V); y = torch.tensor([1, N]); z = x.new_tensor(y)",
            {3: "z = y.clone()"},
            _ask_dtype,
            "z",
        ),
        RetestProgram(
            "x = torch.tensor(V, dtype=torch.float64); y = torch.tensor(W); z = x.new_tensor(y)",
            {3: "z = y.clone()"},
            _ask_dtype,
            "z",
        ),
        RetestProgram(
            "x = torch.tensor([R, C]); y = x.new_tensor(V); z = y + 1",
            {2: "y = torch.tensor(V)"},
            _ask_dtype,
            "y",
        ),
    ),
)
RECEIVER = Misconception(
    "the receiver gives the numbers",
    "`x.new_tensor(k)` is a copy of `x`.",
    "The tensor before the dot is only the pattern. The numbers come from the argument.",
    (
        RetestProgram(
            "x = torch.tensor(V); y = x.new_tensor(W); y += T", {2: "y = x.clone()"}, value, "y"
        ),
        RetestProgram(
            "x = torch.tensor(V); y = x.new_tensor([S, T]); y[0] = K",
            {2: "y = x.clone()"},
            value,
            "y",
        ),
        RetestProgram(
            "x, y = torch.tensor(V), torch.tensor(W); z = y.new_tensor(x); y += T",
            {2: "z = y.clone()"},
            value,
            "z",
        ),
    ),
)


def _object_to_pattern(_: QuizRun) -> str:
    return gettext(
        "`new_tensor` takes dtype and device from the tensor before the dot, but not whether it requires grad."
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
        _ask_dtype("a", "torch.int64"),
        _ask_dtype("b", "torch.float64"),
        same_storage("k", "a", wrong={"yes": "a copy shares memory"}),
        value("k", wrong={"[8, 9]": "a copy shares memory"}),
        requires_grad("a", wrong={"yes": _object_to_pattern}),
        requires_grad("b", wrong={"yes": "new_tensor keeps the history"}),
    ],
    key="new_tensor/pattern",
    title="Whose numbers, whose dtype?",
)


@task(
    "new_tensor/targets",
    "`target_for(scores)` should return the numbers 0 and 1 with the dtype and the device of `scores`, whatever they "
    "are. Change the line of the function.",
    about="a target like its scores",
    start="def target_for(scores):\n    return torch.tensor([0, 1], device=scores.device)",
    hints=["`scores` is the pattern.", "Put `scores` before the dot and the list in the call."],
    solution="def target_for(scores):\n    return scores.new_tensor([0, 1])",
    wrong={
        "def target_for(scores):\n    return torch.tensor([0.0, 1.0])": "given torch.float64, your function returns torch.float32",
        "def target_for(scores):\n    return torch.tensor([0, 1], dtype=torch.float64)": "given torch.float16, your function returns torch.float64",
        "def target_for(scores):\n    return scores.detach().round()": "target_for(scores) shows [1, 0]",
        "def target_for(scores):\n    return scores.detach()": "target_for(scores) and scores look at the same cells",
        "def target_for(scores):\n    return scores.new_tensor([0, 1], requires_grad=True)": "target_for(scores) requires grad",
        "def target_for(scores):\n    return [0, 1]": "of type list",
    },
    right="the target has the dtype of `scores`, for `float64` and `float16`, and cells of its own.",
)
def targets(target_for, torch):
    # The second are no numbers that round to the target.
    for dtype, numbers in ((torch.float64, [0.1, 0.9]), (torch.float16, [0.8, 0.3])):
        scores = torch.tensor(numbers, dtype=dtype, requires_grad=True)
        got = target_for(scores)
        result = {"target_for(scores)": got}
        yield share_no_cells(**result, scores=scores)
        yield needs_no_grad(**result)
        yield shows_values([0, 1], **result)
        yield CheckedFact(
            got.dtype == dtype,
            gettext(
                "given `{dtype}`, your function returns `{other}`.", dtype=dtype, other=got.dtype
            ),
        )
        yield CheckedFact(
            got.device == scores.device,
            gettext(
                "given `{dtype}`, your function returns `{other}`.",
                dtype=scores.device,
                other=got.device,
            ),
        )


@task(
    "new_tensor/weights",
    "`weighted(x)` should return a result with the dtype of `x`, whatever it is. As written, an `x` of `float16` gives a `float32` result. "
    "Change the first line of the function.",
    about="a result with the dtype of `x`",
    start="def weighted(x):\n    factors = torch.tensor([1.0, 10.0])\n    return (x * factors).sum()",
    hints=[
        "The factors have the dtype that `torch.tensor` gives Python's numbers.",
        "Let `x` decide: it can make the factors.",
    ],
    solution="def weighted(x):\n    factors = x.new_tensor([1.0, 10.0])\n    return (x * factors).sum()",
    wrong={
        "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float64)\n    return (x * factors).sum()": "given torch.float32, your function returns torch.float64",
        "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float16)\n    return (x * factors).sum().float()": "given torch.float64, your function returns torch.float32",
        "def weighted(x):\n    factors = torch.tensor([1.0, 10.0], dtype=torch.float16)\n    return (x * factors).sum()": "given torch.int64, your function returns torch.float16",
        "def weighted(x):\n    return x.new_tensor(21.0)": "weighted(x) requires no grad",
        "def weighted(x):\n    factors = x.new_tensor([1.0, 1.0])\n    return (x * factors).sum()": "weighted(x) shows 3",
    },
    right="the result has the dtype of `x`, for `float32`, `float64`, `float16` and `int64`, and the gradient reaches `x`.",
)
def weights(weighted, torch):
    # Factors of `float16` give way to an `x` of each floating dtype: `int64` alone finds them.
    for dtype in (torch.float32, torch.float64, torch.float16, torch.int64):
        takes_grad = dtype.is_floating_point
        x = torch.tensor([1, 2], dtype=dtype, requires_grad=takes_grad)
        got = weighted(x)
        result = {"weighted(x)": got}
        yield are_tensors(**result)
        yield shows_values(21, **result)
        yield CheckedFact(
            got.dtype == dtype,
            gettext(
                "given `{dtype}`, your function returns `{other}`.", dtype=dtype, other=got.dtype
            ),
        )
        if not takes_grad:
            continue
        yield graph_leads_back(**result, x=x)
        # Each dtype has an `x` of its own, so no gradient is added to another.
        got.backward()
        yield has_grad([1, 10], x=x)
