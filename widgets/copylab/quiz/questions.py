"""Ready-made questions about names, tensors, storages, version counters, nodes and gradients.

    from copylab.questions import same_storage, value
    predict(code, [same_storage("x", "y"), value("x", at=4)])

Each takes `at`, a line of the code (the question is then about the moment after that line, otherwise about the end),
`prompt` to ask it in other words, and `wrong`, what speaks against particular answers (see `Question`). Answers are
found by running; so are the facts told against a wrong one.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from . import suspects, tellings
from .probes import gradient_arrives, write_is_seen
from .question import Question, Wrong, statements
from .runs import Run

__all__ = [
    "ENDLESS",
    "ENDS",
    "Question",
    "count",
    "gets_gradient",
    "gradient",
    "is_leaf",
    "names_showing",
    "names_that",
    "node",
    "on_graph",
    "outcome",
    "printed",
    "requires_grad",
    "same_counter",
    "same_storage",
    "same_tensor",
    "sees_write",
    "state_table",
    "value",
    "version",
]

YES_NO = ("yes", "no")
ENDS = "it runs to its end"
ENDLESS = "it goes on without an end"
_Wrongs = Mapping[Any, Wrong] | None


def _when(at: int | None, prompt: str) -> str:
    return prompt if at is None else f"After line {at}: {prompt[0].lower()}{prompt[1:]}"


def _made(
    name: str,
    asks: str,
    choices: Any,
    answer: Callable[[Run], Any],
    *,
    at: int | None,
    prompt: str | None,
    wrong: _Wrongs,
    because: Callable[[Run], str],
    suspect: Callable[[Run, Any], str | None] | None = None,
    hint: str = "",
) -> Question:
    full = f"{name} at {at}" if at is not None else name
    return Question(prompt or _when(at, asks), choices, answer, dict(wrong or {}), because, full, hint, suspect)


def same_tensor(a: str, b: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask whether two names mean one tensor object (`b is a`)."""
    return _made(
        f"same_tensor({a}, {b})",
        f"Are `{a}` and `{b}` the same tensor?",
        YES_NO,
        lambda run: run.tensor(a, at).id == run.tensor(b, at).id,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.tensors(run, a, b, at),
        suspect=lambda _, given: "equal numbers are one tensor" if given == "yes" else "a name is a copy",
    )


def same_storage(
    a: str, b: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None
) -> Question:
    """Ask whether two tensors look at one storage."""
    return _made(
        f"same_storage({a}, {b})",
        f"Do `{a}` and `{b}` share a storage?",
        YES_NO,
        lambda run: run.tensor(a, at).storage == run.tensor(b, at).storage,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.storages(run, a, b, at),
        suspect=lambda run, given: suspects.memory(run, a, b, at, shared=given == "yes"),
    )


def same_counter(
    a: str, b: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None
) -> Question:
    """Ask whether two tensors share a version counter."""
    return _made(
        f"same_counter({a}, {b})",
        f"Do `{a}` and `{b}` share a version counter?",
        YES_NO,
        lambda run: run.tensor(a, at).counter == run.tensor(b, at).counter,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.counters(run, a, b, at),
        suspect=lambda run, given: suspects.counter(run, a, b, at, shared=given == "yes"),
    )


def on_graph(y: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask whether a tensor has a node (`grad_fn`), that is, whether it is the result of a recorded operation."""
    return _made(
        f"on_graph({y})",
        f"Does `{y}` have a node (`grad_fn`)?",
        YES_NO,
        lambda run: run.tensor(y, at).grad_fn_name is not None,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.node(run, y, at),
        suspect=lambda run, given: suspects.node(run, y, at, has=given == "yes"),
    )


def node(y: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask for the name of a tensor's node; `none` where it has none."""
    return _made(
        f"node({y})",
        f"What is the node of `{y}` called?",
        None,
        lambda run: run.tensor(y, at).grad_fn_name or "none",
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.node(run, y, at),
        hint="a name such as AddBackward0; none if there is none",
    )


def requires_grad(y: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask whether a tensor requires grad."""
    return _made(
        f"requires_grad({y})",
        f"Does `{y}` require grad?",
        YES_NO,
        lambda run: run.tensor(y, at).requires_grad,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.requires_grad(run, y, at),
        suspect=lambda _, given: "requires_grad is copied" if given == "yes" else "grad is not inherited",
    )


def is_leaf(y: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask whether a tensor is a leaf."""
    return _made(
        f"is_leaf({y})",
        f"Is `{y}` a leaf?",
        YES_NO,
        lambda run: bool(run.tensor(y, at).is_leaf),
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.node(run, y, at),
        suspect=lambda run, given: suspects.leaf(run, y, at, is_one=given == "yes"),
    )


def version(x: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask for a tensor's version, a number."""
    return _made(
        f"version({x})",
        f"What is `{x}._version`?",
        None,
        lambda run: run.tensor(x, at).version,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.versions(run, x, at),
        suspect=lambda run, given: suspects.version(run, x, at, given),
        hint="a number",
    )


def value(x: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask for the numbers of a tensor, or the value of a plain variable."""
    return _made(
        f"value({x})",
        f"What is `{x}`?",
        None,
        lambda run: run.value(x, at),
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.values(run, x, at),
        suspect=lambda run, given: suspects.value(run, x, at, given),
        hint="a number, or numbers such as [1, 2]",
    )


def gradient(x: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask for the numbers in a tensor's `.grad`; None where there is none."""
    return _made(
        f"gradient({x})",
        f"What is `{x}.grad`?",
        None,
        lambda run: run.gradient(x, at),
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.gradients(run, x, at),
        suspect=lambda run, given: suspects.gradient(run, x, at, given),
        hint="a number, numbers such as [1, 2], or None",
    )


def sees_write(
    x: str, through: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None
) -> Question:
    """Ask whether `x` would show what is written into `through`. Tried in a run of its own, with `fill_`."""
    return _made(
        f"sees_write({x}, {through})",
        f"If something were written into `{through}` in place, would `{x}` show it?",
        YES_NO,
        lambda run: write_is_seen(run, x, through, at)[0],
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: write_is_seen(run, x, through, at)[1],
        suspect=lambda run, given: suspects.memory(run, x, through, at, shared=given == "yes"),
    )


def gets_gradient(
    x: str, of: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None
) -> Question:
    """Ask whether a gradient would get from `of` back to `x`. Tried in a run of its own, with `of.sum().backward()`."""
    return _made(
        f"gets_gradient({x}, {of})",
        f"If `{of}.sum().backward()` were called, would a gradient reach `{x}`?",
        YES_NO,
        lambda run: gradient_arrives(run, x, of, at)[0],
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: gradient_arrives(run, x, of, at)[1],
        suspect=lambda run, given: suspects.arrival(run, x, of, at, arrives=given == "yes"),
    )


def outcome(*, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask what happens when the code runs: it ends, or which line raises an error.

    Where there is a `while` or a function, which may call itself, it may also go on without an end.
    """
    return _made(
        "outcome",
        "What happens when this runs?",
        _endings,
        lambda run: ENDLESS if run.endless else ENDS if run.error is None else f"line {run.error_line} raises an error",
        at=None,
        prompt=prompt,
        wrong=wrong,
        because=tellings.outcome,
    )


def _endings(code: str) -> tuple[str, ...]:
    able = any(isinstance(node, ast.While | ast.FunctionDef) for node in ast.walk(ast.parse(code)))
    return (ENDS, *([ENDLESS] if able else []), *(f"line {line} raises an error" for line in statements(code)))


def printed(line: int, *, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask for the text that a line prints; spaces count as one, capitals do not matter."""
    return _made(
        f"printed({line})",
        f"What does line {line} print?",
        None,
        lambda run: run.printed(line),
        at=None,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: f"Line {line} prints `{run.printed(line)}`.",
        hint="as it is printed",
    )


def count(what: str, *, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None) -> Question:
    """Ask how many there are, as the memory picture shows them: "names", "tensors", "storages" or "counters".

    Gradients are tensors too, and are counted once they are there. Raises ValueError for anything else.
    """
    if what not in tellings.COUNTED:
        raise ValueError(f"count() counts {', '.join(tellings.COUNTED)}, not {what!r}")
    words = "version counters" if what == "counters" else what
    return _made(
        f"count({what})",
        f"How many {words} are there?",
        None,
        lambda run: len(tellings.COUNTED[what](run.snapshot(at))),
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.counted(run, what, at),
        hint="a number",
    )


def names_that(
    what: str | Callable[[Run, str], bool],
    *names: str,
    at: int | None = None,
    prompt: str | None = None,
    wrong: _Wrongs = None,
) -> Question:
    """Ask which of several names are such that `what` holds: "is_leaf", "requires_grad", "on_graph", "has_grad".

    `what` may also be a function of the run and a name; then `prompt` has to be given. Raises ValueError without.
    """
    known = None if callable(what) else tellings.TESTS.get(what)
    if known is None and not callable(what):
        raise ValueError(f"names_that() knows {', '.join(tellings.TESTS)}, or takes a function; not {what!r}")
    if callable(what) and prompt is None:
        raise ValueError("names_that() with a function needs a prompt, for it cannot know what is asked")

    def fitting(run: Run) -> frozenset[str]:
        def holds(name: str) -> bool:
            return what(run, name) if callable(what) else known is not None and known.holds(run.tensor(name, at))

        return frozenset(name for name in names if holds(name))

    def facts(run: Run) -> str:
        if known is None:
            return f"The run says: {', '.join(sorted(fitting(run))) or 'none'}."
        return " ".join(known.tells(run, name, at) for name in names)

    listed = ", ".join(f"`{name}`" for name in names)
    return _made(
        f"names_that({what if isinstance(what, str) else prompt}: {', '.join(names)})",
        f"Which of {listed} {known.asks if known else ''}?",
        None,
        fitting,
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=facts,
        hint="names, or none",
    )


def names_showing(
    number: float, *names: str, at: int | None = None, prompt: str | None = None, wrong: _Wrongs = None
) -> Question:
    """Ask which of several tensors show a number among their elements."""
    return _made(
        f"names_showing({number:g}: {', '.join(names)})",
        f"Which of {', '.join(f'`{name}`' for name in names)} show the {number:g}?",
        None,
        lambda run: frozenset(name for name in names if number in tellings.flat(run.value(name, at))),
        at=at,
        prompt=prompt,
        wrong=wrong,
        because=lambda run: tellings.shown_by(run, names, at),
        hint="names, or none",
    )


def state_table(x: str = "x", y: str = "y", *, at: int | None = None) -> list[Question]:
    """Ask for everything that a copy `y` may have in common with its source `x`: eight questions."""
    return [
        same_tensor(x, y, at=at),
        same_storage(x, y, at=at),
        same_counter(x, y, at=at),
        on_graph(y, at=at),
        requires_grad(y, at=at),
        is_leaf(y, at=at),
        sees_write(x, y, at=at),
        gets_gradient(x, y, at=at),
    ]
