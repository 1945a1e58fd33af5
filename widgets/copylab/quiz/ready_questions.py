"""How a ready-made question is declared, and all of them. Users find them in `copylab.questions`.

A question is one declaration, `@_question(...)` on the function that answers it. The function takes
a QuizRun and what the question is about, and returns the right answer: True and False for yes and
no, a number, a list, a text, or a set of names. It has the answer from one of three places:

- a fact of a moment, with the sentence that proves it, is in `tensor_facts.py`:
  `run.read_fact(tensor_facts.has_node, y, at=at).holds`;
- anything else that can be read off the run, the run is asked: `run.tensor`, `run.value` and so on;
- what can only be found by doing, a function in `evidence.py` tries in a run of its own:
  `evidence.try_shared_write(run, x, through, at=at).holds`.

What is not there is None, which can be answered (`offset` without a storage). Where the run cannot
tell, as the numbers of a tensor of more than a thousand elements, which are not recorded, a
ValueError says why: then `verify` names a fault, and the page leaves the program as text.

The arguments of `_question`:

- `prompt` asks, with the function's arguments as `{x}`;
- `because`, a function in `evidence.py`, says in sentences what decides it. It is called as the
  answering function is: `because(run, *subject, at=at)`;
- `find_misconception`, a function in `wrong_answers.py`, finds the one behind a wrong answer. It is
  called as `find_misconception(run, answer, *subject, at=at)`, and so are the next two. Where there is
  one, or one of the next, a right row says why it is right, too;
- `find_objection`, a function in `objections.py`, returns an objection to a wrong answer behind
  which no misconception is found. Where it finds none, the run is tried without each of its lines;
- `find_fallback_objection`, another one there, is called where the answer is wrong without any of them;
- `choices` are the answers to choose from; with neither `choices` nor `hint` they are yes and no;
- `hint` says how to write a free answer, such as "a number";
- `pattern` is there for `node` alone, whose answers look like names of nodes;
- `features` say what the code around a question does otherwise for this one: `shows_graph` (`node`),
  `says_wrong_gradients` (`gradient`, `outcome`), `asks_for_ending` (`outcome`) and `asks_for_numbers`
  (`value`). None of that is read off the name of a question.

If the answering function has no `at`, as that of `outcome` has none, `because` and the three that
find something are called without it, too. A declaration makes a `Question`, which says `choices`,
`hint` and `pattern` in full, as `Features` does its own, and how an answer is judged (`is_right`) and
refuted (`refute`).
Texts are marked for translators with `gettext_noop`, and translated when they are shown. In the
names of parameters `y` is a result, `x` any tensor, `a` and `b` are two that are compared; behind
`x` stands what a gradient starts `of`, or what a write goes `through`.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tinytorch.viz import short_node_name

from .. import tensor_facts
from ..wording import gettext, gettext_noop, join_list
from . import evidence, objections, wrong_answers
from .answers import flatten_lists
from .question import NO_FEATURES, ArgumentSource, Features, Question
from .runs import QuizRun

ENDS = gettext_noop("it runs to its end")
ENDLESS = gettext_noop("it never ends")

_COMMON_PARAMETERS = {
    "prompt": "str | None",
    "wrong": "Mapping[Any, ArgumentSource] | None",
}
"""What every question takes, with its type."""

_HINT_PARAMETER = {"hint": "str | None"}
"""What a question with a free answer takes besides: how to write it, in place of the declared hint."""


class QuestionMaker(Protocol):
    """A function that makes a question about these names; `help` of each says what it takes."""

    def __call__(
        self,
        *subject: Any,
        at: int | None = None,
        prompt: str | None = None,
        wrong: Mapping[Any, ArgumentSource] | None = None,
        hint: str | None = None,
    ) -> Question:
        """Return the question about these names or values."""
        ...


@dataclass(frozen=True)
class Declaration:
    """The arguments of `_question`, and the function that answers the question."""

    find_answer: Callable[..., Any]
    prompt: str | Callable[..., str]
    because: Callable[..., str]
    find_misconception: Callable[..., str | None] | None
    find_objection: Callable[..., str | None] | None
    find_fallback_objection: Callable[..., str | None] | None
    choices: Sequence[str] | Callable[[str], Sequence[str]] | None
    hint: str
    pattern: str
    features: Features

    def make_question(self, arguments: inspect.BoundArguments) -> Question:
        """Return the question about some arguments, as `same_storage("x", "y", at=4)` has them."""
        name = self.find_answer.__name__
        # What the question is about; `at` and what all questions take can only be keywords.
        subject = arguments.args
        # `at`, `prompt`, `wrong` and `hint`, as far as they were given.
        keywords = arguments.kwargs
        own_prompt, at = keywords.get("prompt"), keywords.get("at")
        # The same by the names of the parameters, for `{x}` in the prompt.
        subject_by_parameter = {
            parameter: value
            for parameter, value in arguments.arguments.items()
            if parameter not in keywords
        }
        # Questions about the whole run have no `at`, and their functions are called without one.
        at_keyword = {"at": at} if "at" in arguments.signature.parameters else {}
        template = self.prompt(*subject) if callable(self.prompt) else self.prompt
        if not (own_prompt or template):
            raise ValueError(
                f"{name}() with a function needs a prompt, for it cannot know what is asked"
            )

        # A question asks for these with the run and the answer alone: it does not know what it is
        # about.
        def bind_subject(
            find: Callable[..., str | None] | None,
        ) -> Callable[[QuizRun, str], str | None] | None:
            if find is None:
                return None
            return lambda run, answer: find(run, answer, *subject, **at_keyword)

        return Question(
            # Formatted when it is shown: the language may change in between.
            prompt=own_prompt or (lambda: _format_prompt(template, subject_by_parameter, at)),
            choices=self.choices,
            answer=lambda run: self.find_answer(run, *subject, **at_keyword),
            wrong=dict(keywords.get("wrong") or {}),
            because=lambda run: self.because(run, *subject, **at_keyword),
            name=_name_question(name, subject, at),
            hint=keywords.get("hint") or self.hint,
            find_misconception=bind_subject(self.find_misconception),
            find_objection=bind_subject(self.find_objection),
            find_fallback_objection=bind_subject(self.find_fallback_objection),
            pattern=self.pattern,
            features=self.features,
            names=tuple(subject_by_parameter.get("names", ())),
            kind=name,
            subject=subject,
            at=at,
        )


def _question(
    prompt: str | Callable[..., str],
    *,
    because: Callable[..., str],
    find_misconception: Callable[..., str | None] | None = None,
    find_objection: Callable[..., str | None] | None = None,
    find_fallback_objection: Callable[..., str | None] | None = None,
    choices: Sequence[str] | Callable[[str], Sequence[str]] | None = None,
    hint: str = "",
    pattern: str = "",
    features: Features = NO_FEATURES,
) -> Callable[[Callable[..., Any]], QuestionMaker]:
    """Turn a function that answers a question into one that makes the question.

    prompt: a text, or a function of the question's arguments that returns one, or raises ValueError
    for arguments that cannot be asked about. The others: see the head of this file.
    """
    if choices is None and not hint:
        # English, as they are stored and compared; `translate_choice` has the words that are shown.
        choices = ("yes", "no")

    def declare(find_answer: Callable[..., Any]) -> QuestionMaker:
        declaration = Declaration(
            find_answer,
            prompt,
            because,
            find_misconception,
            find_objection,
            find_fallback_objection,
            choices,
            hint,
            pattern,
            features,
        )
        signature = _signature_of_maker(find_answer, is_free=choices is None)

        # Its name and docstring are those that `help(same_storage)` shows.
        @functools.wraps(find_answer)
        def ask_about(*args: Any, **keywords: Any) -> Question:
            return declaration.make_question(signature.bind(*args, **keywords))

        # `help` shows the parameters of the question: those of its function without the run.
        ask_about.__signature__ = signature  # type: ignore[attr-defined]
        return ask_about

    return declare


def _signature_of_maker(find_answer: Callable[..., Any], is_free: bool) -> inspect.Signature:
    """Return the parameters of a question: its function's without the run, then the common ones.

    `is_free`: there are no choices, and a `hint` says how to write the answer.
    """
    # Users give no run: it is there once the program has run.
    _run, *parameters = inspect.signature(find_answer).parameters.values()
    shared_parameters = _COMMON_PARAMETERS | (_HINT_PARAMETER if is_free else {})
    for name, annotation in shared_parameters.items():
        parameters.append(
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
            )
        )
    return inspect.Signature(parameters, return_annotation="Question")


def _format_prompt(template: str, subject_by_parameter: Mapping[str, Any], at: int | None) -> str:
    """Return a prompt in the language in use, with what it asks about and the line."""
    values = dict(subject_by_parameter)
    # The one parameter that is a tuple, `*names`.
    if "names" in values:
        values["names"] = join_list(f"`{name}`" for name in values["names"])
    text = gettext(template, **values)
    if at is None:
        return text
    # In Chinese and Korean it changes nothing.
    question = text[0].lower() + text[1:]
    return gettext("After line {line}: {question}", line=at, question=question)


def _name_question(function: str, subject: Sequence[Any], at: int | None) -> str:
    """Return the name under which an answer is stored: `same_storage(x, y) at 4`."""
    # A test that is a function is known by its name; its repr has an address.
    subject_text = ", ".join(getattr(item, "__name__", str(item)) for item in subject)
    name = f"{function}({subject_text})" if subject else function
    return name if at is None else f"{name} at {at}"


# -- the questions ----------------------------------------------------------------------

_HINT_OF_NUMBERS = gettext_noop("a number, numbers such as [1, 2], or None")


@_question(
    gettext_noop("Are `{a}` and `{b}` the same tensor?"),
    because=evidence.describe_same_tensor,
    find_misconception=wrong_answers.find_same_tensor_misconception,
)
def same_tensor(run: QuizRun, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two names mean one tensor object (`b is a`)."""
    return run.read_fact(tensor_facts.is_same_tensor, a, b, at=at).holds


@_question(
    gettext_noop("Do `{a}` and `{b}` share a storage?"),
    because=evidence.describe_shared_storage,
    find_misconception=wrong_answers.find_shared_storage_misconception,
)
def same_storage(run: QuizRun, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two tensors look at one storage."""
    return run.read_fact(tensor_facts.shares_storage, a, b, at=at).holds


@_question(
    gettext_noop("Do `{a}` and `{b}` share a version counter?"),
    because=evidence.describe_shared_counter,
    find_misconception=wrong_answers.find_shared_counter_misconception,
    find_objection=objections.find_shared_counter_objection,
)
def same_counter(run: QuizRun, a: str, b: str, *, at: int | None = None) -> bool:
    """Ask whether two tensors share a version counter."""
    return run.read_fact(tensor_facts.shares_counter, a, b, at=at).holds


@_question(
    gettext_noop("Does `{y}` have a node (`grad_fn`)?"),
    because=evidence.describe_node,
    find_misconception=wrong_answers.find_on_graph_misconception,
)
def on_graph(run: QuizRun, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor has a node (`grad_fn`), as results of recorded operations do."""
    return run.read_fact(tensor_facts.has_node, y, at=at).holds


@_question(
    gettext_noop("What is the node of `{y}` called?"),
    because=evidence.describe_node,
    find_objection=objections.find_node_objection,
    hint=gettext_noop("a name such as SinBackward0, or none"),
    pattern=r"\w+backward\d*|copybackwards|copyslices|accumulategrad",
    features=Features(shows_graph=True),
)
def node(run: QuizRun, y: str, *, at: int | None = None) -> str:
    """Ask for the name of a tensor's node; `none` where it has none."""
    has_node = run.read_fact(tensor_facts.has_node, y, at=at).holds
    return short_node_name(run.tensor(y, at).grad_fn_name or "") if has_node else "none"


@_question(
    gettext_noop("Does `{y}` require grad?"),
    because=evidence.describe_requires_grad,
    find_misconception=wrong_answers.find_requires_grad_misconception,
)
def requires_grad(run: QuizRun, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor requires grad."""
    return run.read_fact(tensor_facts.requires_grad, y, at=at).holds


@_question(
    gettext_noop("Is `{y}` a leaf?"),
    because=evidence.describe_leaf,
    find_misconception=wrong_answers.find_leaf_misconception,
)
def is_leaf(run: QuizRun, y: str, *, at: int | None = None) -> bool:
    """Ask whether a tensor is a leaf."""
    return run.read_fact(tensor_facts.is_leaf, y, at=at).holds


@_question(
    gettext_noop("What is `{x}._version`?"),
    because=evidence.describe_version,
    find_misconception=wrong_answers.find_version_misconception,
    find_objection=objections.find_version_objection,
    find_fallback_objection=objections.find_fallback_version_objection,
    hint=gettext_noop("a number"),
)
def version(run: QuizRun, x: str, *, at: int | None = None) -> int | None:
    """Ask for a tensor's version, a number."""
    return run.tensor(x, at).version


@_question(
    gettext_noop("What is `{x}.storage_offset()`?"),
    because=evidence.describe_offset,
    find_misconception=wrong_answers.find_offset_misconception,
    find_objection=objections.find_offset_objection,
    find_fallback_objection=objections.find_fallback_offset_objection,
    hint=gettext_noop("a number"),
)
def offset(run: QuizRun, x: str, *, at: int | None = None) -> int | None:
    """Ask at which cell of its storage a tensor begins, a number; None without a storage."""
    return run.tensor(x, at).offset


@_question(
    gettext_noop("How many cells does the storage of `{x}` have?"),
    because=evidence.describe_cells,
    find_misconception=wrong_answers.find_cells_misconception,
    find_objection=objections.find_cells_objection,
    find_fallback_objection=objections.find_fallback_cells_objection,
    hint=gettext_noop("a number"),
)
def cells(run: QuizRun, x: str, *, at: int | None = None) -> int | None:
    """Ask how many cells the storage of a tensor has, a number; None without a storage."""
    return run.count_cells(x, at)


@_question(
    gettext_noop("What is `{x}`?"),
    because=evidence.describe_value,
    find_misconception=wrong_answers.find_value_misconception,
    find_objection=objections.find_value_objection,
    find_fallback_objection=objections.find_fallback_value_objection,
    # The same as that of a gradient, which is often None: there it would give the answer away.
    hint=_HINT_OF_NUMBERS,
    features=Features(asks_for_numbers=True),
)
def value(run: QuizRun, x: str, *, at: int | None = None) -> Any:
    """Ask for the numbers of a tensor, or the value of a plain variable."""
    return run.value(x, at)


@_question(
    gettext_noop("What is `{x}.grad`?"),
    because=evidence.describe_gradient,
    find_misconception=wrong_answers.find_gradient_misconception,
    find_objection=objections.find_gradient_objection,
    find_fallback_objection=objections.find_fallback_gradient_objection,
    hint=_HINT_OF_NUMBERS,
    features=Features(says_wrong_gradients=True),
)
def gradient(run: QuizRun, x: str, *, at: int | None = None) -> Any:
    """Ask for the numbers in a tensor's `.grad`; None where there is none."""
    return run.gradient(x, at)


@_question(
    gettext_noop("If something were written into `{through}` in place, would `{x}` show it?"),
    because=evidence.describe_shared_write,
    find_misconception=wrong_answers.find_shared_storage_misconception,
)
def sees_write(run: QuizRun, x: str, through: str, *, at: int | None = None) -> bool:
    """Ask whether `x` would show what is written into `through`.

    Tried in a run of its own, with `fill_`.
    """
    return evidence.try_shared_write(run, x, through, at=at).holds


@_question(
    gettext_noop("If `{of}.sum().backward()` were called, would a gradient reach `{x}`?"),
    because=evidence.describe_gradient_path,
    find_misconception=wrong_answers.find_gradient_path_misconception,
)
def gets_gradient(run: QuizRun, x: str, of: str, *, at: int | None = None) -> bool:
    """Ask whether a gradient would get from `of` back to `x`.

    Tried in a run of its own, with `of.sum().backward()`.
    """
    return evidence.try_gradient_path(run, x, of, at=at).holds


def _list_outcomes(code: str) -> list[str]:
    """Return what can happen when a code runs: the choices of `outcome`."""
    nodes = list(ast.walk(ast.parse(code)))
    outcomes = [ENDS]
    # Only a `while`, or a function that calls itself, can go on for ever.
    if any(isinstance(node, ast.While | ast.FunctionDef) for node in nodes):
        outcomes.append(ENDLESS)
    # Each line once: several statements may be on it.
    lines = sorted({node.lineno for node in nodes if isinstance(node, ast.stmt)})
    return [*outcomes, *(f"line {line} raises an error" for line in lines)]


@_question(
    gettext_noop("What happens when this runs?"),
    because=evidence.describe_outcome,
    find_objection=objections.find_outcome_objection,
    choices=_list_outcomes,
    features=Features(says_wrong_gradients=True, asks_for_ending=True),
)
def outcome(run: QuizRun) -> str:
    """Ask what happens when the code runs: it ends, or which line raises an error.

    Where there is a `while` or a function, which may call itself, it may also go on without an end.
    """
    if run.is_endless:
        return ENDLESS
    if run.trace.error is None:
        return ENDS
    # In these words, which `translate_choice` reads.
    return f"line {run.error_line} raises an error"


@_question(
    gettext_noop("What does line {line} print?"),
    because=evidence.describe_output,
    hint=gettext_noop("as it is printed"),
)
def printed(run: QuizRun, line: int) -> str:
    """Ask for the text that a line prints; spaces count as one, capitals do not matter."""
    return run.read_output(line)


def _choose_count_prompt(kind: str) -> str:
    if kind not in evidence.COUNTABLES:
        raise ValueError(f"count() counts {', '.join(evidence.COUNTABLES)}, not {kind!r}")
    return evidence.COUNTABLES[kind].prompt


@_question(
    _choose_count_prompt,
    because=evidence.describe_count,
    find_objection=objections.find_count_objection,
    find_fallback_objection=objections.find_fallback_count_objection,
    hint=gettext_noop("a number"),
)
def count(run: QuizRun, kind: str, *, at: int | None = None) -> int:
    """Ask how many "names", "tensors", "storages" or "counters" the memory picture shows.

    Gradients are tensors too, and are counted once they exist. Raises ValueError for anything else.
    """
    return len(evidence.COUNTABLES[kind].find_in(run.snapshot(at)))


def _choose_names_prompt(test: evidence.NameTest, *_names: str) -> str:
    if callable(test):
        return ""  # the question has to have a prompt of its own
    if test not in evidence.PROPERTIES:
        raise ValueError(
            f"names_that() knows {', '.join(evidence.PROPERTIES)}, "
            f"or takes a function; not {test!r}"
        )
    return evidence.PROPERTIES[test].prompt


@_question(
    _choose_names_prompt,
    because=evidence.describe_names,
    find_objection=objections.find_names_objection,
    hint=gettext_noop("names, or none"),
)
def names_that(
    run: QuizRun, test: evidence.NameTest, *names: str, at: int | None = None
) -> frozenset[str]:
    """Ask which of several names pass a test.

    It is one of "is_leaf", "requires_grad", "on_graph", "has_grad". `test` may also be a function
    of the run and a name; then `prompt` has to be given. Raises ValueError without.
    """
    return evidence.find_names(run, test, *names, at=at)


@_question(
    gettext_noop("Which of {names} show the {number:g}?"),
    because=evidence.describe_names_showing,
    find_objection=objections.find_names_showing_objection,
    hint=gettext_noop("names, or none"),
)
def names_showing(
    run: QuizRun, number: float, *names: str, at: int | None = None
) -> frozenset[str]:
    """Ask which of several tensors show a number among their elements."""
    return frozenset(name for name in names if number in flatten_lists(run.value(name, at)))


def state_table(x: str = "x", y: str = "y", *, at: int | None = None) -> list[Question]:
    """Ask the eight questions about what a copy `y` has in common with its source `x`."""
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
