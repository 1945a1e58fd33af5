"""Ready-made questions about names, tensors, storages, version counters, nodes and gradients.

    from copylab.questions import same_storage, value
    predict(code, [same_storage("x", "y"), value("x", at=4)])

Each takes `at`, a line of the code (the question is then about the moment after that line, otherwise about the end),
`prompt` to ask it in other words, and `wrong`, what speaks against particular answers (see `Question`). Answers are
found by running; so are the facts told against a wrong one.

A question is one declaration: the function that answers it, and before it how it is asked, what decides it (`because`),
and whose belief a wrong answer is (`suspect`); these get what the answer gets.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tinytorch.viz import gettext, gettext_noop, short_node_name

from . import beliefs, evidence
from .question import Question, Wrong
from .runs import Run

ENDS = gettext_noop("it runs to its end")
ENDLESS = gettext_noop("it goes on without an end")

__all__ = ["ENDLESS", "ENDS", "Question", "state_table"]  # and each question below

_ALL = (("prompt", "str | None"), ("wrong", "Mapping[Any, Wrong] | None"))
"""What every question takes, with its type."""


class _Maker(Protocol):
    """What makes a question about these names; see `help` of each for what it takes."""

    def __call__(
        self,
        *what: Any,
        at: int | None = None,
        prompt: str | None = None,
        wrong: Mapping[Any, Wrong] | None = None,
    ) -> Question: ...


def _asks(
    prompt: str | Callable[..., str],
    *,
    because: Callable[..., str],
    suspect: Callable[..., str | None] | None = None,
    choices: Sequence[str] | Callable[[str], Sequence[str]] | None = None,
    hint: str = "",
    like: str = "",
) -> Callable[[Callable[..., Any]], _Maker]:
    """Make a function that answers a question into one that makes the question.

    prompt: has the arguments in it as `{x}`; a function of them gives one, and may refuse them. Without choices and
    without a hint it is answered by yes or no.
    """
    options = choices or (None if hint else ("yes", "no"))

    def declare(answer: Callable[..., Any]) -> _Maker:
        # What the answer takes but the run; then what every question takes.
        _, *about = inspect.signature(answer).parameters.values()
        last = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=of)
            for name, of in _ALL
        ]
        signature = inspect.Signature([*about, *last], return_annotation="Question")

        @functools.wraps(answer)
        def make(*args: Any, **named: Any) -> Question:
            given = signature.bind(*args, **named)
            own, wrong = given.arguments.pop("prompt", None), given.arguments.pop("wrong", None)
            when = {"at": given.arguments.pop("at", None)} if "at" in signature.parameters else {}
            asked = prompt(*given.args) if callable(prompt) else prompt
            if not (own or asked):
                raise ValueError(
                    f"{answer.__name__}() with a function needs a prompt, for it cannot know what is asked"
                )
            told = (
                None if suspect is None else lambda run, was: suspect(run, was, *given.args, **when)
            )
            return Question(
                own or (lambda: _said(asked, given.arguments, when.get("at"))),
                options,
                lambda run: answer(run, *given.args, **when),
                dict(wrong or {}),
                lambda run: because(run, *given.args, **when),
                _name(answer.__name__, given.args, when.get("at")),
                hint,
                told,
                like,
            )

        make.__signature__ = signature  # type: ignore[attr-defined]
        __all__.append(answer.__name__)  # noqa: PYI056  # it is filled while the table is read
        return make

    return declare


def _said(prompt: str, what: Mapping[str, Any], at: int | None) -> str:
    shown = {
        key: ", ".join(f"`{name}`" for name in one) if key == "names" else one
        for key, one in what.items()
    }
    asked = gettext(prompt, **shown)
    if at is None:
        return asked
    return gettext("After line {line}: {question}", line=at, question=asked[0].lower() + asked[1:])


def _name(question: str, what: Sequence[Any], at: int | None) -> str:
    listed = ", ".join(getattr(one, "__name__", str(one)) for one in what)
    return (f"{question}({listed})" if what else question) + (f" at {at}" if at is not None else "")


@_asks(
    gettext_noop("Are `{a}` and `{b}` the same tensor?"),
    because=evidence.tensors,
    suspect=beliefs.either(yes="equal numbers are one tensor", no="a name is a copy"),
)
def same_tensor(run: Run, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two names mean one tensor object (`b is a`)."""
    return run.tensor(a, at).id == run.tensor(b, at).id


@_asks(
    gettext_noop("Do `{a}` and `{b}` share a storage?"),
    because=evidence.storages,
    suspect=beliefs.memory,
)
def same_storage(run: Run, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two tensors look at one storage."""
    return run.tensor(a, at).storage == run.tensor(b, at).storage


@_asks(
    gettext_noop("Do `{a}` and `{b}` share a version counter?"),
    because=evidence.counters,
    suspect=beliefs.counter,
)
def same_counter(run: Run, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two tensors share a version counter."""
    return run.tensor(a, at).counter == run.tensor(b, at).counter


@_asks(
    gettext_noop("Does `{y}` have a node (`grad_fn`)?"), because=evidence.node, suspect=beliefs.node
)
def on_graph(run: Run, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor has a node (`grad_fn`), that is, whether it is the result of a recorded operation."""
    return run.tensor(y, at).grad_fn_name is not None


@_asks(
    gettext_noop("What is the node of `{y}` called?"),
    because=evidence.node,
    hint=gettext_noop("a name such as SinBackward0; none if there is none"),
    like=r"\w+backward\d+|copybackwards|copyslices|accumulategrad",
)
def node(run: Run, y: str, *, at: int | None = None) -> str:
    """Ask for the name of a tensor's node; `none` where it has none."""
    return short_node_name(run.tensor(y, at).grad_fn_name or "none")


@_asks(
    gettext_noop("Does `{y}` require grad?"),
    because=evidence.requires_grad,
    suspect=beliefs.either(yes="requires_grad is copied", no="grad is not inherited"),
)
def requires_grad(run: Run, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor requires grad."""
    return run.tensor(y, at).requires_grad


@_asks(gettext_noop("Is `{y}` a leaf?"), because=evidence.node, suspect=beliefs.leaf)
def is_leaf(run: Run, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor is a leaf."""
    return bool(run.tensor(y, at).is_leaf)


@_asks(
    gettext_noop("What is `{x}._version`?"),
    because=evidence.versions,
    suspect=beliefs.version,
    hint=gettext_noop("a number"),
)
def version(run: Run, x: str, *, at: int | None = None) -> int | None:
    """Ask for a tensor's version, a number."""
    return run.tensor(x, at).version


@_asks(
    gettext_noop("What is `{x}`?"),
    because=evidence.values,
    suspect=beliefs.value,
    hint=gettext_noop("a number, or numbers such as [1, 2]"),
)
def value(run: Run, x: str, *, at: int | None = None) -> Any:
    """Ask for the numbers of a tensor, or the value of a plain variable."""
    return run.value(x, at)


@_asks(
    gettext_noop("What is `{x}.grad`?"),
    because=evidence.gradients,
    suspect=beliefs.gradient,
    hint=gettext_noop("a number, numbers such as [1, 2], or None"),
)
def gradient(run: Run, x: str, *, at: int | None = None) -> Any:
    """Ask for the numbers in a tensor's `.grad`; None where there is none."""
    return run.gradient(x, at)


@_asks(
    gettext_noop("If something were written into `{through}` in place, would `{x}` show it?"),
    because=lambda run, x, through, at: evidence.write_is_seen(run, x, through, at)[1],
    suspect=beliefs.memory,
)
def sees_write(run: Run, x: str, through: str, *, at: int | None = None) -> bool:
    """Ask whether `x` would show what is written into `through`. Tried in a run of its own, with `fill_`."""
    return evidence.write_is_seen(run, x, through, at)[0]


@_asks(
    gettext_noop("If `{of}.sum().backward()` were called, would a gradient reach `{x}`?"),
    because=lambda run, x, of, at: evidence.gradient_arrives(run, x, of, at)[1],
    suspect=beliefs.arrival,
)
def gets_gradient(run: Run, x: str, of: str, *, at: int | None = None) -> bool:
    """Ask whether a gradient would get from `of` back to `x`. Tried in a run of its own, with `of.sum().backward()`."""
    return evidence.gradient_arrives(run, x, of, at)[0]


def _endings(code: str) -> tuple[str, ...]:
    nodes = list(ast.walk(ast.parse(code)))
    able = any(isinstance(node, ast.While | ast.FunctionDef) for node in nodes)
    lines = sorted({node.lineno for node in nodes if isinstance(node, ast.stmt)})
    return (ENDS, *([ENDLESS] if able else []), *(f"line {line} raises an error" for line in lines))


@_asks(gettext_noop("What happens when this runs?"), because=evidence.outcome, choices=_endings)
def outcome(run: Run) -> str:
    """Ask what happens when the code runs: it ends, or which line raises an error.

    Where there is a `while` or a function, which may call itself, it may also go on without an end.
    """
    if run.endless:
        return ENDLESS
    return ENDS if run.trace.error is None else f"line {run.error_line} raises an error"


@_asks(
    gettext_noop("What does line {line} print?"),
    because=evidence.printed,
    hint=gettext_noop("as it is printed"),
)
def printed(run: Run, line: int) -> str:
    """Ask for the text that a line prints; spaces count as one, capitals do not matter."""
    return run.printed(line)


def _how_many(what: str) -> str:
    if what not in evidence.COUNTED:
        raise ValueError(f"count() counts {', '.join(evidence.COUNTED)}, not {what!r}")
    return evidence.COUNTED[what].asks


@_asks(_how_many, because=evidence.counted, hint=gettext_noop("a number"))
def count(run: Run, what: str, *, at: int | None = None) -> int:
    """Ask how many there are, as the memory picture shows them: "names", "tensors", "storages" or "counters".

    Gradients are tensors too, and are counted once they are there. Raises ValueError for anything else.
    """
    return len(evidence.COUNTED[what].found(run.snapshot(at)))


def _which(what: str | Callable[[Run, str], bool], *_: str) -> str:
    if callable(what):
        return ""
    if what not in evidence.TESTS:
        raise ValueError(
            f"names_that() knows {', '.join(evidence.TESTS)}, or takes a function; not {what!r}"
        )
    return evidence.TESTS[what].asks


@_asks(_which, because=evidence.each_of, hint=gettext_noop("names, or none"))
def names_that(
    run: Run, what: str | Callable[[Run, str], bool], *names: str, at: int | None = None
) -> frozenset[str]:
    """Ask which of several names are such that `what` holds: "is_leaf", "requires_grad", "on_graph", "has_grad".

    `what` may also be a function of the run and a name; then `prompt` has to be given. Raises ValueError without.
    """
    return evidence.those(run, what, *names, at=at)


@_asks(
    gettext_noop("Which of {names} show the {number:g}?"),
    because=evidence.shown_by,
    hint=gettext_noop("names, or none"),
)
def names_showing(run: Run, number: float, *names: str, at: int | None = None) -> frozenset[str]:
    """Ask which of several tensors show a number among their elements."""
    return frozenset(name for name in names if number in evidence.flat(run.value(name, at)))


def state_table(x: str = "x", y: str = "y", *, at: int | None = None) -> list[Question]:
    """Ask for everything that a copy `y` may have in common with its source `x`: eight questions."""
    both = (same_tensor, same_storage, same_counter)
    of_copy = (on_graph, requires_grad, is_leaf)
    tried = (sees_write, gets_gradient)
    return [
        *(ask(x, y, at=at) for ask in both),
        *(ask(y, at=at) for ask in of_copy),
        *(ask(x, y, at=at) for ask in tried),
    ]
