"""Choosing: rows of the table from memory, the dangerous methods, a method for each wish, a fresh leaf."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from .. import predict, wrong
from ..copying import METHODS, Answer, Method, facts, method
from ..questions import gets_gradient, node, same_counter, same_storage, version
from ..quiz import graph_leads_back, is_leaf_with_grad, share_no_cells, shows_values
from ..wording import gettext, gettext_noop, ngettext
from . import task

rows = predict(
    """
    a = torch.tensor([1.0, 2.0], requires_grad=True)
    x = a * 1
    k = x.clone()
    d = x.detach()
    p = x.data
    c = torch.zeros(2)
    c.copy_(x)
    d += 10
    """,
    [
        same_storage("x", "k", wrong={"yes": "a copy shares memory"}),
        same_counter("x", "p", wrong={"yes": "shared memory, shared counter"}),
        version("x", wrong={"0": "detach has its own counter"}),
        version("p", wrong={"1": ".data is detach"}),
        node("c", wrong={"none": "copy_ is not recorded"}),
        gets_gradient("a", "k", wrong={"no": "clone cuts the graph"}),
        gets_gradient("a", "d", wrong={"yes": "detach keeps the graph"}),
    ],
    key="choosing/rows",
    title="clone, detach, .data and copy_, side by side",
)


def _find_methods_with(torch: ModuleType, wanted: Mapping[str, Answer]) -> set[str]:
    """Return the names of the methods with these facts, for a tensor computed from a leaf."""
    names = set()
    for name, copy_method in METHODS.items():
        if wanted.items() <= facts(copy_method, "result", torch).answers.items():
            names.add(name)
    return names


def _find_method(name: str) -> Method:
    """Return the method of that name.

    A misspelt one ends the check, with the name it is near to.
    """
    try:
        return method(name)
    except (TypeError, ValueError) as error:
        wrong(_describe_problem(error))


def _describe_problem(error: TypeError | ValueError) -> str:
    """Return why a method was not found, as a sentence and without the list of all methods."""
    return str(getattr(error, "problem", None) or f"{error}.")


@task(
    "choosing/dangerous",
    "List in `names` the methods of the table with which, after a write through `y`, `backward` through `x` gives a "
    "**wrong** gradient and no error.",
    about="the dangerous methods",
    start="names = []",
    hints=[
        "The same storage, but another counter. Which columns say that?",
        "Filter: shares memory yes, shares version counter no.",
    ],
    solution='names = [".data", "from_numpy", "copy.copy"]',
    wrong={
        'names = [".data", "detach"]': "'detach' is not one of them: after a write through its y",
        'names = [".data"]': "2 more are missing",
        'names = [".data", "from_numpy"]': "1 more is missing",
        'names = ["clone"]': "backward through x gives right",
        'names = ["dtach"]': "Did you mean 'detach'?",
        'names = ["nonsense"]': "there is no copy method 'nonsense'.",
        'names = ".data"': "a list of names",
    },
    right="after a write through `y`, each of them gives a wrong gradient of a function of `x`, and no error.",
)
def dangerous(names, torch):
    if not isinstance(names, list | tuple | set):
        wrong(gettext('`names` has to be a list of names, such as `["clone", "view"]`.'))
    if not names:
        wrong(gettext("the list is empty, but there are such methods."))
    # Found by running, as what the table says is: the two cannot differ.
    right = _find_methods_with(torch, {"after_write": "wrong, and no error"})
    # By the name in the catalogue: a method may be written in several ways.
    listed = {_find_method(name).name for name in names}
    for extra in sorted(listed - right):
        sentence = gettext(
            "`{name}` is not one of them: after a write through its `y`, `backward` through `x` gives {what}.",
            name=repr(extra),
            what=facts(extra, "result", torch)["after_write"].words,
        )
        wrong(sentence)
    if missing := len(right - listed):
        sentence = ngettext(
            "{number} more is missing. Filter the table by the column about backward.",
            "{number} more are missing. Filter the table by the column about backward.",
            missing,
        )
        wrong(sentence)


WISHES: dict[str, dict[str, Answer]] = {
    gettext_noop("noise is added in place, and the gradient comes back"): {
        "same_storage": False,
        "gradient_returns": True,
    },
    gettext_noop("numbers are kept for a plot"): {
        "same_storage": False,
        "gradient_returns": False,
        "warns": None,
    },
    gettext_noop("the numbers are only read, without a gradient"): {
        "same_storage": True,
        "same_counter": True,
        "gradient_returns": False,
    },
    gettext_noop("the same cells in a second tensor, and the gradient comes back"): {
        "same_tensor": False,
        "same_storage": True,
        "gradient_returns": True,
    },
    gettext_noop("the numbers go into an existing tensor"): {"grad_fn": "CopyBackwards"},
}
_WORDS: dict[tuple[str, Answer], str] = {
    ("same_storage", False): gettext_noop(
        "{wish}: with {name}, the result looks at the cells of `x`."
    ),
    ("same_storage", True): gettext_noop("{wish}: with {name}, the numbers are copied."),
    ("gradient_returns", True): gettext_noop("{wish}: with {name}, no gradient comes back."),
    ("gradient_returns", False): gettext_noop(
        "{wish}: with {name}, the gradient still flows back."
    ),
    ("same_counter", True): gettext_noop(
        "{wish}: the counter of `x` misses writes through the result of {name}."
    ),
    ("same_tensor", False): gettext_noop("{wish}: with {name}, the result is `x` itself."),
    ("warns", None): gettext_noop("{wish}: {name} warns, each time."),
    ("grad_fn", "CopyBackwards"): gettext_noop("{wish}: {name} makes a new tensor, or none."),
}


def _name_wish(wish: str) -> str:
    """Return a key of the table as it is in the code, with its translation where there is one."""
    meaning = gettext(wish)
    return wish if meaning == wish else gettext("{key} ({meaning})", key=wish, meaning=meaning)


def _write_choice(*names: str | None) -> str:
    values = ("None" if name is None else f'"{name}"' for name in names)
    rows = "".join(f'    "{wish}": {name},\n' for wish, name in zip(WISHES, values, strict=True))
    return f"choice = {{\n{rows}}}"


@task(
    "choosing/wishes",
    "Choose a method for each of the five situations, one that neither warns nor raises an error: replace each `None` by "
    "its name in the table.",
    about="five situations",
    start=_write_choice(*[None] * 5),
    hints=[
        "Ask the four questions for each.",
        "The first needs `clone` or something like it; the last writes into existing cells.",
    ],
    solution=_write_choice("clone", "detach().clone()", "detach", "view", "copy_"),
    wrong={
        _write_choice("detach().clone()", None, None, None, None): "no gradient comes back",
        _write_choice("deepcopy", None, None, None, None): "'deepcopy' raises an error on a result",
        _write_choice("view", None, None, None, None): "the result looks at the cells of x",
        _write_choice("clone", "clone", None, None, None): "the gradient still flows back",
        _write_choice("clone", "torch.tensor", None, None, None): "'torch.tensor' warns, each time",
        _write_choice(
            "clone", "detach().clone()", ".data", None, None
        ): "the counter of x misses writes through",
        _write_choice("clone", "detach().clone()", "detach", "=", None): "the result is x itself",
        _write_choice(
            "clone", "detach().clone()", "detach", "view", "clone"
        ): "a new tensor, or none",
        _write_choice(
            "clone", "detach().clone()", "detach", "view", None
        ): "still open: the numbers go",
    },
    right="run on a tensor of its own, each of them does what was wanted.",
)
def wishes(choice, torch):
    if not isinstance(choice, dict) or set(choice) != set(WISHES):
        wrong(gettext("`choice` has to be the dict with its five keys, as it was."))
    for wish, wanted in WISHES.items():
        given, name_in_words = choice[wish], _name_wish(wish)
        if given is None:
            wrong(gettext("still open: {wish}.", wish=name_in_words))
        try:
            found = facts(method(given), "result", torch)
        except (TypeError, ValueError) as error:
            wrong(
                gettext("{wish}: {problem}", wish=name_in_words, problem=_describe_problem(error))
            )
        # Of a method that raises there is no result to ask more about.
        if found["raises"].answer:
            sentence = gettext(
                "{wish}: `{name}` raises an error on a result: {error}.",
                wish=name_in_words,
                name=repr(method(given).name),
                error=str(found["raises"].answer).partition(". ")[0].rstrip("."),
            )
            wrong(sentence)
        for key, answer in wanted.items():
            if found[key].answer != answer:
                wrong(
                    gettext(
                        _WORDS[key, answer], wish=name_in_words, name=f"`{method(given).name!r}`"
                    )
                )


@task(
    "choosing/leaf",
    "`fresh_leaf(x)` should return a leaf that requires grad, with the numbers of `x` in its own cells, and leave `x` "
    "as it is.",
    about="a fresh leaf",
    start="def fresh_leaf(x):\n    return x",
    hints=[
        "Cut, copy, and ask for a gradient: three calls.",
        "The last one has an underscore: `requires_grad_()`.",
    ],
    solution="def fresh_leaf(x):\n    return x.detach().clone().requires_grad_()",
    wrong={
        "def fresh_leaf(x):\n    return x.clone()": "its node is CloneBackward0",
        "def fresh_leaf(x):\n    return x.detach().clone()": "requires no grad",
        "def fresh_leaf(x):\n    return x.detach().requires_grad_()": "x and fresh_leaf(x) look at the same cells",
        "def fresh_leaf(x):\n    x.detach_()\n    return x.clone().requires_grad_()": "x requires no grad",
        "def fresh_leaf(x):\n    return x.tolist()": "of type list",
        "def fresh_leaf(x):\n    y = x.detach().clone()\n    x.data.zero_()\n    return y.requires_grad_()": "x shows [0, 0]",
        "def fresh_leaf(x):\n    return torch.tensor([3.0, 6.0], requires_grad=True)": "fresh_leaf(x) shows [3, 6]",
    },
    right="the result is a leaf with cells of its own, and `x` stays as it was.",
)
def independent(fresh_leaf, torch):
    # Of two, so that the numbers of one of them do not pass for those of `x`.
    for numbers, tripled in (([1.0, 2.0], [3, 6]), ([5.0, -1.0], [15, -3])):
        a = torch.tensor(numbers, requires_grad=True)
        x = a * 3
        result = {"fresh_leaf(x)": fresh_leaf(x)}
        yield share_no_cells(x=x, **result)
        yield is_leaf_with_grad(**result)
        yield shows_values(tripled, x=x)
        yield shows_values(tripled, **result)
        yield graph_leads_back(x=x, a=a)
