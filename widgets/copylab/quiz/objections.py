"""Objections to a wrong answer that points to no misconception.

The facts of a question list what the run showed. These say what the answer has in common with it:
the same numbers in another shape, what another name shows, what would be there without a line; or
else how far it is from what the run showed. Each function takes the run, the wrong answer, and what
the question is about. It returns a sentence, or None where there is nothing to say.

A declaration in `ready_questions.py` has such as `find_value_objection` as its `find_objection`, and such
as `find_fallback_value_objection` as its `find_fallback_objection`. Between the two comes `describe_missed_line`:
`Question._choose_objection` asks the three in turn, until one returns a sentence.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from tinytorch.viz import short_node_name

from ..wording import gettext, gettext_noop, join_list, join_sentences
from .answers import (
    flatten_lists,
    format_number,
    is_same_answer,
    parse_names,
    parse_value,
)
from .evidence import COUNTABLES, find_names, is_uninitialized
from .runs import Moment, NewValue, QuizRun, count_cells_or_none


def find_value_objection(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Object to wrong numbers of a tensor, or to a wrong value of a plain variable."""
    right = run.value(x, at)
    return _describe_wrong_numbers(run, right, answer, x, at)


def find_shared_counter_objection(
    run: QuizRun, answer: str, a: str, b: str, *, at: int | None
) -> str | None:
    """Object to a counter that tensors of two storages are said to share."""
    if answer == "no" or run.snapshot(at).shares_storage(a, b):
        return None  # a misconception is behind these
    return gettext(
        "A tensor that is made with a new storage gets a new version counter, too: a write into one "
        "of the two is not counted at the other."
    )


def find_fallback_value_objection(
    run: QuizRun, answer: str, x: str, *, at: int | None
) -> str | None:
    """Say that a tensor is not None, or that no name ever showed the answer."""
    if parse_value(answer) is not None:
        right = run.value(x, at)
        difference = _describe_first_difference(right, answer, x)
        if difference is not None:
            return difference
    elif x in dict(run.snapshot(at).names):
        return gettext("`{x}` is a tensor: it shows numbers, and is not None.", x=x)
    why = _explain_value(run, x, at)
    return _describe_number_among_others(run, answer, why, at)


def _explain_value(run: QuizRun, x: str, at: int | None) -> str:
    """Say which line gave a tensor or a variable what it shows, and through which name."""
    last = run.history(lambda moment: moment.values[x], at)[-1]
    snapshot = run.snapshot(at)
    written = set(re.findall(r"\w+", last.source))
    tensors = dict(snapshot.names)
    if x in tensors and x not in written:
        for name in tensors:
            if name in written and snapshot.shares_storage(name, x):
                return gettext(
                    "`{x}` reads the cells of `{name}`, so it shows what line {line} (`{source}`) "
                    "wrote there.",
                    x=x,
                    name=name,
                    line=last.line,
                    source=last.source,
                )
    return _describe_last_line(last, f"`{x}`")


def _describe_last_line(last: NewValue, quantity: str) -> str:
    return gettext(
        "{what} comes from line {line} (`{source}`).",
        what=quantity,
        line=last.line,
        source=last.source,
    )


def find_gradient_objection(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Object to a wrong gradient."""
    right = run.gradient(x, at)
    if right is None:
        return _describe_value_elsewhere(run, answer, at)
    if parse_value(answer) is not None:
        return _describe_wrong_numbers(run, right, answer, f"{x}.grad", at)
    # The first: from there on the answer None was wrong.
    line = run.history(lambda moment: moment.grads[x], at)[0].line
    return gettext(
        "`{x}` requires grad, and the `backward` on line {line} reached `{x}`.", x=x, line=line
    )


def find_fallback_gradient_objection(
    run: QuizRun, answer: str, x: str, *, at: int | None
) -> str | None:
    """Say where gradients are, or that no name ever showed the answer."""
    right = run.gradient(x, at)
    if right is not None:
        difference = _describe_first_difference(right, answer, f"{x}.grad")
        last = run.history(lambda moment: moment.grads[x], at)[-1]
        why = _describe_last_line(last, f"`{x}.grad`")
        return difference or _describe_number_among_others(run, answer, why, at)
    names = join_list(f"`{name}`" for name in run.moment(at).grads)
    if names:
        return gettext("Only these names have a gradient: {names}.", names=names)
    return gettext("No name of this program has a gradient.")


def _describe_wrong_numbers(
    run: QuizRun, right: Any, answer: str, name: str, at: int | None
) -> str | None:
    """Say that only the shape is wrong, where else the answer is right, or else what shape is right."""
    if not _has_other_shape(right, answer):
        return _describe_value_elsewhere(run, answer, at)
    if differs_in_shape_alone(right, answer):
        return gettext(
            "The numbers are right, but the shape is not: `{name}` has the shape `{shape}`.",
            name=name,
            shape=_shape_of(right),
        )
    # Whose numbers were written says more than that they are of another shape.
    elsewhere = _describe_value_elsewhere(run, answer, at)
    sentence = gettext_noop("The shape of `{name}` is `{shape}`.")
    tensor_name = name.removesuffix(".grad")
    # Not where `.data` gave the tensor another shape.
    if tensor_name != name and run.tensor(tensor_name, at).shape == _shape_of(right):
        sentence = gettext_noop("The shape of `{name}` is `{shape}`, which is that of its tensor.")
    return elsewhere or gettext(sentence, name=name, shape=_shape_of(right))


def differs_in_shape_alone(right: Any, answer: str) -> bool:
    """Return True for an answer with the numbers of the right one in other brackets."""
    if not _has_other_shape(right, answer):
        return False
    # As they are written: 2 and 2.0 are the same number.
    given_numbers = set(map(format_number, flatten_lists(parse_value(answer))))
    return given_numbers == set(map(format_number, flatten_lists(right)))


def _has_other_shape(right: Any, answer: str) -> bool:
    """Return True for an answer with other brackets than the right one."""
    given = parse_value(answer)
    if given is None or not isinstance(right, list) or _shape_of(given) == _shape_of(right):
        return False
    # One number may have brackets or none: what is wrong is the number.
    return not len(list(flatten_lists(given))) == len(list(flatten_lists(right))) == 1


def _shape_of(value: Any) -> tuple[int, ...]:
    """Return the lengths of nested lists, of the first one in each."""
    if not isinstance(value, list | tuple):
        return ()
    return (len(value), *(_shape_of(value[0]) if value else ()))


def _describe_value_elsewhere(run: QuizRun, answer: str, at: int | None) -> str | None:
    """Say of which other name the answer would have been right, or at which other time."""
    for sentence, details in _list_shown_values(run, at):
        if is_same_answer(answer, details["value"]):
            return gettext(sentence, given=answer, **details)
    return None


def _list_shown_values(run: QuizRun, at: int | None) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the run showed, what it shows last first: a sentence, and what is filled in."""
    moment = run.moment(at)
    for name, value in moment.values.items():
        yield gettext_noop("`{given}` is what `{name}` shows."), {"name": name, "value": value}
    for name, value in moment.grads.items():
        yield gettext_noop("`{given}` is `{name}.grad`."), {"name": name, "value": value}
    # Also of names that are there no more, and of gradients that were set back to None.
    names: dict[str, None] = {}
    names_with_gradient: dict[str, None] = {}
    for earlier in run.list_moments(at):
        names |= dict.fromkeys(earlier.values)
        names_with_gradient |= dict.fromkeys(earlier.grads)
    for name in names:
        new_values = run.history(lambda each, name=name: each.values[name], at)  # type: ignore[misc]
        yield from _list_past_values(new_values, name, is_still_shown=name in moment.values)
    for name in names_with_gradient:
        new_values = run.history(lambda each, name=name: each.grads[name], at)  # type: ignore[misc]
        is_still_shown = name in moment.grads
        yield from _list_past_values(new_values, f"{name}.grad", is_still_shown=is_still_shown)


def _list_past_values(
    new_values: list[NewValue], name: str, *, is_still_shown: bool
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what a name showed, the last first, as `_list_shown_values` does."""
    sentence = gettext_noop("`{given}` is what `{name}` showed after line {line}.")
    # The last value of a name that is still there is not past.
    past = new_values[:-1] if is_still_shown else new_values
    for new_value in reversed(past):
        yield sentence, {"name": name, "value": new_value.value, "line": new_value.line}


def _describe_first_difference(right: Any, answer: str, name: str) -> str | None:
    """Name the first element that differs in an answer of the right shape; None in any other."""
    given = parse_value(answer)
    if _shape_of(given) != _shape_of(right):
        return None
    # From the outermost lists inwards: after each turn both are the items that differ first.
    index: list[int] = []
    while isinstance(right, list):
        # Of brackets that do not fit, only the first in each have been compared.
        if not isinstance(given, list | tuple) or len(given) != len(right):
            return None
        position = _find_first_difference(given, right)
        if position is None:
            return None
        index.append(position)
        given, right = given[position], right[position]
    if not index:
        return None
    return gettext(
        "The first that differs: `{place}` is {right}, not {given}.",
        place=f"{name}{index}",
        right=format_number(right),
        given=format_number(given),
    )


def _find_first_difference(given: Sequence[Any], right: Sequence[Any]) -> int | None:
    for position, (given_item, right_item) in enumerate(zip(given, right, strict=True)):
        if not is_same_answer(given_item, right_item):
            return position
    return None


def _describe_number_among_others(run: QuizRun, answer: str, why: str, at: int | None) -> str:
    """Say which name has a wrong number as one of several, or that no name ever showed it, and why."""
    now = gettext_noop("`{given}` is one of the numbers of `{name}`.")
    before = gettext_noop("`{given}` was one of the numbers of `{name}`.")
    moments = run.list_moments(at)
    for moment in reversed(moments):
        grads = {f"{name}.grad": value for name, value in moment.grads.items()}
        for name, value in {**moment.values, **grads}.items():
            if isinstance(value, list) and any(
                is_same_answer(answer, each) for each in flatten_lists(value)
            ):
                sentence = now if moment is moments[-1] else before
                return gettext(sentence, given=answer, name=name)
    # Without the number, which dozens of foreseen answers have: a page has the sentence once.
    nothing = gettext("No name of this run ever had that value.")
    if at is not None:
        nothing = gettext("Up to line {line}, no name had that value.", line=at)
    return join_sentences([nothing, why])


# -- numbers that a run counts ----------------------------------------------------------


def find_version_objection(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Say which write a wrong version leaves out, or which other tensor has that version."""
    objection = _describe_passing_line(run, answer, f"`{x}._version`", _read_version(x), at)
    if objection is not None:
        return objection
    return _describe_number_elsewhere(run, answer, at, "_version", lambda tensor: tensor.version)


def find_fallback_version_objection(
    run: QuizRun, answer: str, x: str, *, at: int | None
) -> str | None:
    """Say how far the versions of a tensor went, and what a version counts."""
    objection = _describe_range(run, answer, f"`{x}._version`", _read_version(x), at)
    if objection is None:
        return None
    return join_sentences(
        [objection, gettext("A version counts writes in place, and nothing else.")]
    )


def _read_version(x: str) -> Callable[[Moment], Any]:
    return lambda moment: moment.snapshot.tensor(x).version


def find_offset_objection(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Say what is at a wrong offset, or which other tensor has that offset."""
    offset, tensor = parse_value(answer), run.tensor(x, at)
    if not _is_number(offset) or tensor.offset is None:
        return None
    quantity = f"`{x}.storage_offset()`"
    objection = _describe_passing_line(run, answer, quantity, _read_offset(x), at)
    # A tensor without elements begins at none.
    if objection is not None or not tensor.numel:
        return objection
    # The byte at which `x` would begin if the answer were right.
    given_byte = tensor.start_byte + (offset - tensor.offset) * tensor.itemsize
    for name, other in _list_sharers(run, x, at):
        given_index = other.index_at(given_byte)
        right_index = other.index_at(tensor.start_byte)
        if given_index is None or right_index is None or other.itemsize != tensor.itemsize:
            continue
        return gettext(
            "Cell {given} is `{asked}`, and `{x}` begins at `{right}`.",
            given=answer,
            asked=_write_element(name, given_index),
            x=x,
            right=_write_element(name, right_index),
        )
    return _describe_number_elsewhere(
        run, answer, at, "storage_offset()", lambda record: record.offset
    )


def _write_element(name: str, index: tuple[int, ...]) -> str:
    """Return `m[1, 0]` for an element; of a tensor without dimensions its name alone."""
    return f"{name}{list(index)}" if index else name


def find_fallback_offset_objection(
    run: QuizRun, answer: str, x: str, *, at: int | None
) -> str | None:
    """Say which cells a storage has, or how far the offsets of a tensor went."""
    offset, cells = parse_value(answer), count_cells_or_none(run.snapshot(at), x)
    if cells and _is_number(offset) and offset >= cells:
        return gettext("The last cell of this storage is cell {last}.", last=cells - 1)
    return _describe_range(run, answer, f"`{x}.storage_offset()`", _read_offset(x), at)


def _read_offset(x: str) -> Callable[[Moment], Any]:
    return lambda moment: moment.snapshot.tensor(x).offset


def _list_sharers(run: QuizRun, x: str, at: int | None) -> Iterator[tuple[str, Any]]:
    """Yield the named tensors over the memory of one, each with a name: the others first."""
    snapshot, tensor = run.snapshot(at), run.tensor(x, at)
    names = {snapshot.tensor(name).id: name for name, _ in reversed(snapshot.names)}
    sharers = [other for other in snapshot.storage_sharers(tensor) if other.id in names]
    for other in sorted(sharers, key=lambda other: other.id == tensor.id):
        yield names[other.id], other


def find_cells_objection(run: QuizRun, answer: str, x: str, *, at: int | None) -> str | None:
    """Say what else of a tensor or of its storage a wrong number of cells counts."""
    number, tensor, cells = parse_value(answer), run.tensor(x, at), run.count_cells(x, at)
    if cells is None or not _is_number(number):
        return None
    if number == tensor.numel:
        return gettext("{given} is `{x}.numel()`: elements of `{x}`.", given=answer, x=x)
    if number == cells * tensor.itemsize:
        return gettext(
            "{given} is the number of bytes: each cell takes {size}.",
            given=answer,
            size=tensor.itemsize,
        )
    return _describe_passing_line(run, answer, _name_cells(x), _read_cells(x), at)


def find_fallback_cells_objection(
    run: QuizRun, answer: str, x: str, *, at: int | None
) -> str | None:
    """Say how many cells a storage had at most and at least."""
    return _describe_range(run, answer, _name_cells(x), _read_cells(x), at)


def _name_cells(x: str) -> str:
    return gettext("the number of cells in the storage of `{x}`", x=x)


def _read_cells(x: str) -> Callable[[Moment], Any]:
    return lambda moment: count_cells_or_none(moment.snapshot, x)


_NOUNS_BY_KIND = {
    "names": gettext_noop("the number of names"),
    "tensors": gettext_noop("the number of tensors"),
    "storages": gettext_noop("the number of storages"),
    "counters": gettext_noop("the number of version counters"),
}


def find_count_objection(run: QuizRun, answer: str, kind: str, *, at: int | None) -> str | None:
    """Say what else a wrong number counts: names instead of tensors, or what was there before."""
    number = parse_value(answer)
    if not _is_number(number):
        return None
    snapshot = run.snapshot(at)
    # What was counted instead says more than how many there were of the right kind.
    for other, noun in _NOUNS_BY_KIND.items():
        if other != kind and len(COUNTABLES[other].find_in(snapshot)) == number:
            return gettext("{given} is {what}.", given=answer, what=gettext(noun))
    return _describe_passing_line(run, answer, gettext(_NOUNS_BY_KIND[kind]), _read_count(kind), at)


def find_fallback_count_objection(
    run: QuizRun, answer: str, kind: str, *, at: int | None
) -> str | None:
    """Say how many there were at most and at least."""
    return _describe_range(run, answer, gettext(_NOUNS_BY_KIND[kind]), _read_count(kind), at)


def _read_count(kind: str) -> Callable[[Moment], Any]:
    return lambda moment: len(COUNTABLES[kind].find_in(moment.snapshot))


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _list_numbers(run: QuizRun, read: Callable[[Moment], Any], at: int | None) -> list[NewValue]:
    """Return each new value of a number; none where it was something else at times."""
    new_values = run.history(read, at)
    return new_values if all(_is_number(each.value) for each in new_values) else []


def _describe_passing_line(
    run: QuizRun, answer: str, quantity: str, read: Callable[[Moment], Any], at: int | None
) -> str | None:
    """Say which line led away from a wrong number, or past it."""
    number = parse_value(answer)
    if not _is_number(number):
        return None
    new_values = _list_numbers(run, read, at)
    for position, (old, new) in reversed(list(enumerate(pairwise(new_values)))):
        # The facts list its values with their lines: enough to say which of them was overlooked.
        if number == old.value:
            sentence = gettext_noop("{given} was right until line {line} ran.")
            if any(each.line == new.line for each in new_values[: position + 1]):
                sentence = gettext_noop("{given} was right until line {line} ran again.")
            return gettext(sentence, given=number, line=new.line)
        low, high = sorted((old.value, new.value))
        if low <= number <= high and number != new.value:
            return gettext(
                "Line {line} (`{source}`) took {what} from {old} to {new}.",
                line=new.line,
                source=new.source,
                what=quantity,
                old=old.value,
                new=new.value,
            )
    return None


def _describe_range(
    run: QuizRun, answer: str, quantity: str, read: Callable[[Moment], Any], at: int | None
) -> str | None:
    """Say that a number never was as high or as low as a wrong answer, or that it is a number."""
    number = parse_value(answer)
    new_values = _list_numbers(run, read, at)
    values = [each.value for each in new_values]
    if not values:
        return None
    if not _is_number(number):
        return gettext("One whole number is asked for: {what}.", what=quantity)
    if number > max(values):
        bound = max(values)
        sentence = gettext_noop("No line took {what} above {bound}.")
        sentence_up_to_line = gettext_noop("Up to line {line}, nothing took {what} above {bound}.")
    else:
        bound = min(values)
        sentence = gettext_noop("No line took {what} below {bound}.")
        sentence_up_to_line = gettext_noop("Up to line {line}, nothing took {what} below {bound}.")
    sentence = sentence if at is None else sentence_up_to_line
    said = gettext(sentence, what=quantity, bound=bound, line=at)
    first = new_values[values.index(bound)]
    # With the first of its values it began: no line took it there.
    if first is new_values[0]:
        return said
    reached = gettext(
        "Line {line} (`{source}`) took it to {bound}.",
        line=first.line,
        source=first.source,
        bound=bound,
    )
    return join_sentences([said, reached])


def _describe_number_elsewhere(
    run: QuizRun, answer: str, at: int | None, attribute: str, read: Callable[[Any], Any]
) -> str | None:
    """Say of which other tensor a wrong number would have been right."""
    snapshot, number = run.snapshot(at), parse_value(answer)
    for name, tensor_id in snapshot.names:
        if _is_number(number) and read(snapshot.tensor(tensor_id)) == number:
            return gettext("{given} is `{code}`.", given=answer, code=f"{name}.{attribute}")
    return None


# -- names, nodes and ends --------------------------------------------------------------


def find_names_objection(
    run: QuizRun, answer: str, test: Any, *names: str, at: int | None
) -> str | None:
    """Say which names are missing in an answer, and which do not belong there."""
    return _compare_names(find_names(run, test, *names, at=at), answer, run.moment(at))


def find_names_showing_objection(
    run: QuizRun, answer: str, number: float, *names: str, at: int | None
) -> str | None:
    """Say which names are missing in an answer, and which do not belong there."""
    right = {name for name in names if number in flatten_lists(run.value(name, at))}
    return _compare_names(right, answer, run.moment(at))


def _compare_names(right: frozenset[str] | set[str], answer: str, moment: Moment) -> str | None:
    # Capitals do not matter in an answer.
    right_names = {name.casefold(): name for name in sorted(right)}
    written = {name.casefold(): name for name in moment.values} | right_names
    given = parse_names(answer)
    missing = join_list(f"`{right_names[name]}`" for name in right_names if name not in given)
    others = sorted(given - right_names.keys())
    added = join_list(f"`{written.get(name, name)}`" for name in others)
    sentences = []
    if missing:
        sentences.append(gettext("Missing in that answer: {names}.", names=missing))
    if added:
        sentences.append(gettext("Wrong in that answer: {names}.", names=added))
    return join_sentences(sentences) if sentences else None


def find_node_objection(run: QuizRun, answer: str, y: str, *, at: int | None) -> str | None:
    """Say which tensor has or had the node of a wrong answer, or that there is one."""
    given, tensor = parse_value(answer), run.tensor(y, at)
    if given is None:
        is_result = tensor.requires_grad and tensor.is_leaf is False
        sentence = gettext("`{y}` requires grad and is not a leaf, so it has a node.", y=y)
        return sentence if is_result else None
    for new_value in run.history(lambda moment: _name_node(moment, y), at)[:-1]:
        if is_same_answer(answer, new_value.value):
            return gettext(
                "After line {line} the node of `{y}` was {node}; another one took its place.",
                line=new_value.line,
                y=y,
                node=new_value.value,
            )
    snapshot = run.snapshot(at)
    for name, tensor_id in snapshot.names:
        if tensor_id != tensor.id and is_same_answer(answer, _name_node(run.moment(at), name)):
            return gettext("{node} is the node of `{name}`.", node=answer, name=name)
    return gettext("No name of this program has such a `grad_fn`.")


def _name_node(moment: Moment, name: str) -> str:
    tensor = moment.snapshot.tensor(name)
    return short_node_name(tensor.grad_fn_name or "") or "none"


def find_outcome_objection(run: QuizRun, answer: str) -> str | None:
    """Say that a line raised nothing or was not run, or that the run did end."""
    chosen = re.fullmatch(r"line (\d+) raises an error", answer)
    if chosen is None:
        if run.error_line is not None:
            return gettext("No line caught that error, so the run ended there.")
        # Of what was stopped, the facts say so.
        return None if run.is_endless else gettext("The program came to its end by itself.")
    line = int(chosen[1])
    # Lines such as `with ...:` are no steps of their own.
    simple_lines = {statement.lineno for statement in _list_simple_statements(run.code)}
    if line in simple_lines - {step.site.line for step in run.trace.steps}:
        return gettext("Line {line} was not run.", line=line)
    return gettext("Line {line} was run and raised nothing.", line=line)


def _list_simple_statements(code: str) -> list[ast.stmt]:
    statements = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.stmt)]
    return [statement for statement in statements if not hasattr(statement, "body")]


# -- a line that was overlooked ---------------------------------------------------------


def describe_missed_line(run: QuizRun, is_right_for: Callable[[QuizRun], bool]) -> str | None:
    """Say without which line a wrong answer would be right: tried, each line in its turn.

    is_right_for: returns True if the wrong answer is right for another run, one without a line.
    """
    # Its numbers are others in each run.
    if is_uninitialized(run.code):
        return None
    for line, source, shorter in reversed(run.shorter_runs):
        try:
            # With another end its moments are others, too.
            has_other_end = (shorter.trace.error is None) != (run.trace.error is None)
            is_right_without = not has_other_end and is_right_for(shorter)
        # Without its line there may be no such tensor; a teacher's function may raise anything.
        except Exception:  # noqa: BLE001
            continue
        if is_right_without:
            return gettext(
                "Your answer would be right without line {line} (`{source}`).",
                line=line,
                source=source,
            )
    return None
