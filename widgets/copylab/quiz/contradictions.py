"""Which answers of a table rule out the misconception that another row seems to show.

"No error was raised, so the gradient is right" was said to somebody whose row above said that it raises one.
A belief is put into a learner's mouth only where no other answer of the same table denies it. Else the row
says the argument alone, which is true of the run whatever is believed.

Answers that cannot all be true in any run are named in one sentence above the table.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import NamedTuple

from tinytorch.viz import join_names

from ..wording import gettext
from .answers import flatten_lists, format_answer, parse_value
from .question import Question
from .runs import QuizRun, count_cells_or_none
from .wrong_answers import is_result_of_clone

_EXCLUSIVE = (
    ("a name is a copy", "a name follows a name"),
    ("reshape is a copy", "reshape is a view"),
    ("a view is a copy", "reshape is a view"),
    ("id shows memory", "a copy shares memory"),
    ("clone cuts the graph", "the copy has the gradient"),
    ("clone cuts the graph", "backward overwrites"),
    ("a counter for each tensor", "shared memory, shared counter"),
    ("detach has its own counter", "shared memory, shared counter"),
    ("detach has its own counter", ".data is detach"),
    ("detach keeps the graph", "detach works in place"),
    ("detach keeps the graph", "detach cuts what comes after"),
)
"""Misconceptions of which nobody has both: who shows one in a row denies the other."""

_OF_ONE_ROW = {"the order changes the result"}
"""It says that one of two differs: a second row that shows it denies it, and one that does not does not."""


def _raises_by_itself(_run: QuizRun, question: Question, answer: str) -> bool:
    if question.kind == "effect":
        return answer == "a wrong gradient"
    return question.kind == "outcome" and answer.startswith("line ")


def _survives_a_write(_run: QuizRun, question: Question, answer: str) -> bool:
    if question.kind == "effect":
        return answer != "an error"
    return question.kind == "outcome" and answer == "it runs to its end"


def _has_counters_apart(run: QuizRun, question: Question, answer: str) -> bool:
    if question.kind == "effect":
        # What `detach` does as well, if the two do the same.
        return question.subject[0] == "x.detach().zero_()" and answer != "an error"
    return question.kind == "same_counter" and answer == "no" and _is_past_counter(run, question)


def _has_memory_apart(run: QuizRun, question: Question, answer: str) -> bool:
    return question.kind == "same_storage" and answer == "no" and _is_past_counter(run, question)


def _is_past_counter(run: QuizRun, question: Question) -> bool:
    """Return True if a question is about two tensors over one storage, with a counter each."""
    snapshot = run.snapshot(question.at)
    names = question.subject[:2]
    return snapshot.shares_storage(*names) and not snapshot.shares_counter(*names)


def _notices_detached_write(_run: QuizRun, question: Question, answer: str) -> bool:
    return question.kind == "effect" and ".detach" in question.subject[0] and answer == "an error"


def _writes_through_detached(_run: QuizRun, question: Question, answer: str) -> bool:
    is_about_detach = question.kind == "effect" and ".detach" in question.subject[0]
    return is_about_detach and answer != "the right gradient"


def _has_gradient_of_clone(run: QuizRun, question: Question, answer: str) -> bool:
    if question.kind != "gradient" or not parse_value(answer):
        return False
    return is_result_of_clone(run, question.subject[0], question.at)


def _has_gradient(_run: QuizRun, question: Question, answer: str) -> bool:
    return question.kind == "gradient" and bool(parse_value(answer))


def _shares_view(run: QuizRun, question: Question, answer: str) -> bool:
    if question.kind != "same_storage" or answer != "yes":
        return False
    a, b = (run.tensor(name, question.at) for name in question.subject[:2])
    is_shared = run.snapshot(question.at).shares_counter(*question.subject[:2])
    return is_shared and a.id != b.id and a.requires_grad == b.requires_grad


_DENIALS: dict[str, Callable[[QuizRun, Question, str], bool]] = {
    "no error, right gradient": _raises_by_itself,
    "every write breaks backward": _survives_a_write,
    ".data is detach": _has_counters_apart,
    "shared memory, shared counter": _has_memory_apart,
    "detach has its own counter": _notices_detached_write,
    "detach copies": _writes_through_detached,
    "clone cuts the graph": _has_gradient_of_clone,
    "detach cuts what comes after": _has_gradient,
    "a view is a copy": _shares_view,
}
"""By misconception, whether an answer to another row denies what it says."""


def _denies_misconception(run: QuizRun, question: Question, answer: str, name: str) -> bool:
    """Return True if an answer to another row denies a misconception."""
    is_right = question.is_right(answer, question.right_answer(run))
    shown = "" if is_right else question.name_misconception(run, answer)
    if name in _OF_ONE_ROW:
        return shown == name
    if shown == name:
        return False
    if (shown, name) in _EXCLUSIVE or (name, shown) in _EXCLUSIVE:
        return True
    if name in _DENIALS and _DENIALS[name](run, question, answer):
        return True
    # With that belief the answer here would have been wrong, too.
    return is_right and name in question.name_misconceptions(run).values()


def is_denied(
    questions: Sequence[Question], answers: Sequence[str], run: QuizRun, index: int, name: str
) -> bool:
    """Return True if an answer to another row than `index` denies a misconception."""
    rows = list(zip(questions, answers, strict=True))
    return any(
        _denies_misconception(run, question, answer, name)
        for question, answer in rows[:index] + rows[index + 1 :]
    )


def list_denials(
    questions: Sequence[Question], run: QuizRun
) -> dict[str, list[tuple[int, list[str]]]]:
    """Return, by misconception, the rows with the answers that deny it, as far as they can be foreseen."""
    shown_in_rows = [question.name_misconceptions(run) for question in questions]
    denials: dict[str, list[tuple[int, list[str]]]] = {}
    all_names = itertools.chain.from_iterable(shown.values() for shown in shown_in_rows)
    for name in dict.fromkeys(all_names):
        showing = [index for index, shown in enumerate(shown_in_rows) if name in shown.values()]
        for index, (question, shown) in enumerate(zip(questions, shown_in_rows, strict=True)):
            # No other row shows it.
            if showing == [index]:
                continue
            right = format_answer(question.right_answer(run))
            answers = dict.fromkeys([right, *question.bound_choices, *shown])
            denying = [
                answer for answer in answers if _denies_misconception(run, question, answer, name)
            ]
            if denying:
                denials.setdefault(name, []).append((index, denying))
    return denials


class _AnsweredRow(NamedTuple):
    number: int
    question: Question
    answer: str


class _Contradiction(NamedTuple):
    numbers: Sequence[int]
    why: str


def describe_contradiction(
    questions: Sequence[Question], answers: Sequence[str], run: QuizRun
) -> str:
    """Say which answers cannot all be true, whatever the program does; empty if none are known."""
    # A row of another program is of another run.
    rows = [
        _AnsweredRow(number, question, answer)
        for number, (question, answer) in enumerate(zip(questions, answers, strict=True), 1)
        if not question.change
    ]
    for find in _FINDERS_OF_CONTRADICTIONS:
        if found := find(run, rows):
            return gettext(
                "Your answers to rows {rows} contradict each other: {why}",
                rows=join_names(list(map(str, sorted(found.numbers)))),
                why=found.why,
            )
    return ""


def _select_rows(
    rows: Sequence[_AnsweredRow], kind: str, answer: str | None = None
) -> list[_AnsweredRow]:
    return [
        row
        for row in rows
        if row.question.kind == kind and (answer is None or row.answer == answer)
    ]


def _find_tensor_without_its_storage(
    _run: QuizRun, rows: Sequence[_AnsweredRow]
) -> _Contradiction | None:
    one_rows = _select_rows(rows, "same_tensor", "yes")
    storage_rows = _select_rows(rows, "same_storage", "no")
    for one, storage in itertools.product(one_rows, storage_rows):
        names, other_names = one.question.subject[:2], storage.question.subject[:2]
        if set(names) == set(other_names) and one.question.at == storage.question.at:
            why = gettext(
                "if `{a}` and `{b}` are one tensor, they have one storage.", a=names[0], b=names[1]
            )
            return _Contradiction((one.number, storage.number), why)
    return None


def _find_result_without_grad(_run: QuizRun, rows: Sequence[_AnsweredRow]) -> _Contradiction | None:
    leaf_rows = _select_rows(rows, "is_leaf", "no")
    grad_rows = _select_rows(rows, "requires_grad", "no")
    for leaf, grad in itertools.product(leaf_rows, grad_rows):
        is_of_one = leaf.question.subject == grad.question.subject
        if is_of_one and leaf.question.at == grad.question.at:
            why = gettext("a tensor that requires no grad is a leaf.")
            return _Contradiction((leaf.number, grad.number), why)
    return None


def _find_gradient_after_error(run: QuizRun, rows: Sequence[_AnsweredRow]) -> _Contradiction | None:
    # A line of the program may write `.grad` itself. With several leaves, one may have its gradient
    # before the error comes.
    if ".grad" in run.code or _count_leaves(run) != 1:
        return None
    for ending, gradient in itertools.product(
        _select_rows(rows, "outcome"), _select_rows(rows, "gradient")
    ):
        is_of_end = gradient.question.at is None and parse_value(gradient.answer) is not None
        if not is_of_end or not ending.answer.startswith("line "):
            continue
        line = int(ending.answer.split()[1])
        if "backward" not in "".join(run.code.splitlines()[: line - 1]):
            why = gettext(
                "if line {line} raises an error, no `backward` comes to its end, and `{name}.grad` is None.",
                line=line,
                name=gradient.question.subject[0],
            )
            return _Contradiction((ending.number, gradient.number), why)
    return None


def _count_leaves(run: QuizRun) -> int:
    tensors = run.snapshot().tensors
    return sum(tensor.requires_grad and tensor.is_leaf is True for tensor in tensors)


def _find_other_numbers_in_shared_cells(
    run: QuizRun, rows: Sequence[_AnsweredRow]
) -> _Contradiction | None:
    for storage in _select_rows(rows, "same_storage", "yes"):
        at = storage.question.at
        names = storage.question.subject[:2]
        values = {
            row.question.subject[0]: row
            for row in _select_rows(rows, "value")
            if row.question.at == at
        }
        if not set(names) <= values.keys() or len(set(names)) < 2:
            continue
        a, b = (values[name] for name in names)
        # Each of the two has as many elements as the storage has cells: neither leaves one out.
        if all(_has_all_cells(run, row, names) for row in (a, b)) and _list_numbers(
            a.answer
        ) != _list_numbers(b.answer):
            why = gettext(
                "if `{a}` and `{b}` share a storage, they show the same numbers.",
                a=names[0],
                b=names[1],
            )
            return _Contradiction((storage.number, a.number, b.number), why)
    return None


def _has_all_cells(run: QuizRun, row: _AnsweredRow, names: Sequence[str]) -> bool:
    """Return True if an answer has a number for each cell of the storage of either name."""
    numbers = _list_numbers(row.answer)
    snapshot = run.snapshot(row.question.at)
    counts = {count_cells_or_none(snapshot, name) for name in names}
    # In another dtype the same cells are other numbers.
    dtypes = {snapshot.tensor(name).dtype for name in names}
    return bool(numbers) and counts == {len(numbers)} and len(dtypes) == 1


def _list_numbers(answer: str) -> list[float]:
    """Return the numbers of an answer in order of their size: in two views they may have two orders."""
    numbers = list(flatten_lists(parse_value(answer)))
    are_numbers = all(isinstance(number, int | float) for number in numbers)
    return sorted(map(float, numbers)) if are_numbers else []


_FINDERS_OF_CONTRADICTIONS: tuple[
    Callable[[QuizRun, Sequence[_AnsweredRow]], _Contradiction | None], ...
] = (
    _find_tensor_without_its_storage,
    _find_result_without_grad,
    _find_gradient_after_error,
    _find_other_numbers_in_shared_cells,
)
"""Each returns rows whose answers cannot all be true, in any program."""
