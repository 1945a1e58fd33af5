"""Choosing: rows of the table from memory, the dangerous methods, a method for each wish, a fresh leaf."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from copylab.copying.facts import Answer, facts
from copylab.copying.methods import METHODS, method
from copylab.looks import is_tensor, same_storage, values
from copylab.questions import count, gets_gradient, node, same_counter, value, version
from copylab.questions import same_storage as shared
from copylab.quiz.exercises import Wrong, exercise
from copylab.quiz.prediction import predict

rows = predict(
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    x = a * 1
    k = x.clone()
    d = x.detach()
    p = x.data
    c = torch.empty(2)
    c.copy_(x)
    d += 10
    """,
    [
        count("storages"),
        shared("x", "k", wrong={"yes": "a copy shares memory"}),
        same_counter("x", "d", wrong={"no": "detach has its own counter"}),
        same_counter("x", "p", wrong={"yes": "shared memory, shared counter"}),
        value("p", wrong={"[1, 2]": "a view is a copy"}),
        version("x"),
        version("p", wrong={"1": ".data is detach"}),
        node("c", wrong={"none": "copy_ is not recorded"}),
        gets_gradient("a", "k", wrong={"no": "clone cuts the graph"}),
        gets_gradient("a", "d", wrong={"yes": "detach keeps the graph"}),
    ],
    key="choosing/rows",
)


def _that(torch: ModuleType, wanted: Mapping[str, Answer]) -> set[str]:
    """The names of the methods with these facts, found by running, for a tensor that was computed from a leaf."""
    found = {name: facts(one, "result", torch) for name, one in METHODS.items()}
    return {name for name, one in found.items() if all(one[key].answer == answer for key, answer in wanted.items())}


def _check_dangerous(names: Any, torch: ModuleType) -> str | None:
    if isinstance(names, str) or not isinstance(names, list | tuple | set):
        return 'names has to be a list of names, such as ["clone", "view"].'
    if not names:
        return "the list is empty, and there are some."
    right = _that(torch, {"after_write": "wrong, and no error"})
    given = set()
    for name in names:
        try:
            given.add(method(name).name)
        except (TypeError, ValueError) as error:
            return str(error).partition(" There are")[0] + "."
    if extra := sorted(given - right):
        what = facts(extra[0], "result", torch)["after_write"].answer
        return f"{extra[0]!r} is not one of them: after a write through its y, backward through x gives {what}."
    if missing := len(right - given):
        return (
            f"{missing} more {'is' if missing == 1 else 'are'} missing. Filter the table by the column about backward."
        )
    return None


dangerous = exercise(
    "choosing/dangerous",
    "`names` shall list the methods of the table after which a write through `y` gives a **wrong** gradient of a "
    "function of `x`, without an error.",
    names=("names",),
    check=_check_dangerous,
    start="names = []",
    hints=[
        "The same storage, and another counter. Which columns say that?",
        "Filter: shares memory yes, shares version counter no.",
    ],
    solution='names = [".data", "from_numpy", "copy.copy"]',
    wrong=[
        Wrong('names = [".data", "detach"]', says="'detach' is not one of them: after a write through its y"),
        Wrong('names = [".data"]', says="2 more are missing"),
        Wrong('names = [".data", "from_numpy"]', says="1 more is missing"),
        Wrong('names = ["clone"]', says="backward through x gives right"),
        Wrong('names = ["dtach"]', says="Did you mean 'detach'?"),
        Wrong('names = ".data"', says="a list of names"),
    ],
    right="these share the cells and count for themselves.",
    title="Exercise 1",
)

WISHES: dict[str, dict[str, Answer]] = {
    "noise is added in place, and the gradient comes back": {"same_storage": False, "gradient_returns": True},
    "numbers are kept for a plot": {"same_storage": False, "gradient_returns": False, "warns": None},
    "the numbers are only read, without a gradient": {
        "same_storage": True,
        "same_counter": True,
        "gradient_returns": False,
    },
    "the same cells in one row": {"same_tensor": False, "same_storage": True, "gradient_returns": True},
    "the numbers go into a tensor that is there": {"grad_fn": "CopyBackwards"},
}
_WORDS: dict[tuple[str, Answer], str] = {
    ("same_storage", False): "it looks at the cells of x",
    ("same_storage", True): "its numbers are copied",
    ("gradient_returns", True): "no gradient comes back",
    ("gradient_returns", False): "it keeps a way back",
    ("same_counter", True): "its writes are counted by nobody else",
    ("same_tensor", False): "it is x itself",
    ("warns", None): "it warns, each time",
    ("grad_fn", "CopyBackwards"): "it makes a new tensor, or none",
}


def _check_wishes(choice: Any, torch: ModuleType) -> str | None:
    if not isinstance(choice, dict) or set(choice) != set(WISHES):
        return "choice has to be the dict with its five keys, as it was."
    for wish, wanted in WISHES.items():
        given = choice[wish]
        if given is None:
            return f"still open: {wish}."
        try:
            found = facts(method(given), "result", torch)
        except (TypeError, ValueError) as error:
            return f"{wish}: {str(error).partition(' There are')[0]}."
        for key, answer in wanted.items():
            if found[key].answer != answer:
                return f"{wish}: with {method(given).name!r}, {_WORDS[key, answer]}."
    return None


def _choice(*names: str | None) -> str:
    given = ("None" if name is None else f'"{name}"' for name in names)
    rows = "".join(f'    "{wish}": {name},\n' for wish, name in zip(WISHES, given, strict=True))
    return f"choice = {{\n{rows}}}"


wishes = exercise(
    "choosing/wishes",
    "Choose a method for each of the five situations: write its name (as in the table) in place of `None`.",
    names=("choice",),
    check=_check_wishes,
    start=_choice(*[None] * 5),
    hints=[
        "Ask the four questions for each.",
        "The first wants `clone` or something like it, the last writes into cells that are there.",
    ],
    solution=_choice("clone", "detach().clone()", "detach", "view", "copy_"),
    wrong=[
        Wrong(_choice("detach().clone()", None, None, None, None), says="no gradient comes back"),
        Wrong(_choice("view", None, None, None, None), says="it looks at the cells of x"),
        Wrong(_choice("clone", "clone", None, None, None), says="it keeps a way back"),
        Wrong(_choice("clone", "torch.tensor", None, None, None), says="it warns, each time"),
        Wrong(_choice("clone", "detach().clone()", ".data", None, None), says="counted by nobody else"),
        Wrong(_choice("clone", "detach().clone()", "detach", "=", None), says="it is x itself"),
        Wrong(_choice("clone", "detach().clone()", "detach", "view", "clone"), says="a new tensor, or none"),
        Wrong(_choice("clone", "detach().clone()", "detach", "view", None), says="still open: the numbers go"),
    ],
    right="each of them gives what was wanted; the table says so.",
    title="Exercise 2",
)


def _check_leaf(fresh_leaf: Any, torch: Any) -> str | None:
    if not callable(fresh_leaf):
        return "fresh_leaf is no function any more."
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    x = a * 3
    y = fresh_leaf(x)
    if not is_tensor(y):
        return f"fresh_leaf gives something of the type {type(y).__name__}."
    if y is x:
        return "it hands back x itself."
    if same_storage(x, y):
        return "what it gives looks at the cells of x."
    if values(y) != [3, 6]:
        return f"it gives {values(y)} for [3, 6]."
    if not y.requires_grad:
        return "what it gives requires no grad."
    if not y.is_leaf:
        return f"what it gives is no leaf: its node is {y.grad_fn.name()}."
    if not x.requires_grad or x.grad_fn is None:
        return "x itself was cut off the graph."
    return None


independent = exercise(
    "choosing/leaf",
    "`fresh_leaf(x)` returns a leaf that requires grad, with the numbers of `x` in cells of its own, and leaves `x` "
    "as it is.",
    names=("fresh_leaf",),
    check=_check_leaf,
    start="def fresh_leaf(x):\n    return x",
    hints=["Cut, copy, and ask for a gradient: three calls.", "The last one has an underscore: `requires_grad_()`."],
    solution="def fresh_leaf(x):\n    return x.detach().clone().requires_grad_()",
    wrong=[
        Wrong("def fresh_leaf(x):\n    return x.clone()", says="its node is CloneBackward0"),
        Wrong("def fresh_leaf(x):\n    return x.detach().clone()", says="requires no grad"),
        Wrong("def fresh_leaf(x):\n    return x.detach().requires_grad_()", says="looks at the cells of x"),
        Wrong(
            "def fresh_leaf(x):\n    x.detach_()\n    return x.clone().requires_grad_()", says="x itself was cut off"
        ),
        Wrong("def fresh_leaf(x):\n    return x.tolist()", says="of the type list"),
    ],
    right="a leaf of its own.",
    title="Exercise 3",
)
