"""Which line is the reason for what two tensors have in common, for a number of things, for a version.

What holds at a moment is in `tensor_facts.py`. Why it does, the run alone knows: the line that gave a
name what it has. It is found from the ids of tensors, storages and counters, which are the same in
all moments of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from tinytorch.viz import Snapshot, labels

from ..run import Step
from ..wording import gettext, gettext_noop
from .answers import flatten_lists
from .runs import Moment, QuizRun


class _Change(NamedTuple):
    """A step after which something was another one than before it."""

    position: int
    """That of the step in the run."""
    line: int
    source: str
    value: str
    kind: str
    """That of the step."""


def _list_changes(
    run: QuizRun, read: Callable[[Snapshot], str | None], at: int | None
) -> list[_Change]:
    """Return each new id that `read` returns for the snapshots of a run, up to line `at`.

    Those for which it raises a KeyError, as there is no such name yet, and None are passed over.
    """
    changes: list[_Change] = []
    for position, (moment, step) in enumerate(_list_steps(run, at)):
        try:
            value = read(moment.snapshot)
        except KeyError:
            continue
        if value is not None and (not changes or changes[-1].value != value):
            first_line = step.site.source.partition("\n")[0]
            changes.append(_Change(position, step.site.line, first_line, value, step.kind))
    return changes


def _list_steps(run: QuizRun, at: int | None) -> Iterable[tuple[Moment, Step]]:
    return zip(run.list_moments(at), run.trace.steps, strict=False)


# -- what two tensors have in common ----------------------------------------------------


def explain_same_tensor(run: QuizRun, a: str, b: str, *, at: int | None) -> str:
    """Say which line tied one of two names to the tensor of the other, or to another tensor."""
    return _explain_pair(run, a, b, "id", at)


def explain_shared_storage(run: QuizRun, a: str, b: str, *, at: int | None) -> str:
    """Say which line gave one of two tensors the storage of the other, or one of its own."""
    return _explain_pair(run, a, b, "storage", at)


def explain_shared_counter(run: QuizRun, a: str, b: str, *, at: int | None) -> str:
    """Say which line gave one of two tensors the version counter of the other, or one of its own."""
    return _explain_pair(run, a, b, "counter", at)


class _Sentences(NamedTuple):
    """How to say that a line gave a name what another one has, or one of its own; or so with both."""

    given: str
    own: str
    older: str
    both: str
    each: str


# Each names what it is about: rows of one table must not say the same.
_SENTENCES = {
    "id": _Sentences(
        gettext_noop("Line {line} (`{source}`) tied `{x}` to the tensor of `{y}`."),
        gettext_noop("Line {line} (`{source}`) tied `{x}` to another tensor."),
        "",
        gettext_noop("Line {line} (`{source}`) tied both names to one tensor."),
        gettext_noop("Line {line} (`{source}`) tied each name to its own tensor."),
    ),
    "storage": _Sentences(
        gettext_noop("Line {line} (`{source}`) gave `{x}` the storage of `{y}`."),
        gettext_noop("Line {line} (`{source}`) gave `{x}` its own storage."),
        gettext_noop("The storage of `{x}` came with line {line} (`{source}`)."),
        gettext_noop("Line {line} (`{source}`) gave both one storage."),
        gettext_noop("Line {line} (`{source}`) gave each its own storage."),
    ),
    "counter": _Sentences(
        gettext_noop("Line {line} (`{source}`) gave `{x}` the version counter of `{y}`."),
        gettext_noop("Line {line} (`{source}`) gave `{x}` its own version counter."),
        gettext_noop("The version counter of `{x}` came with line {line} (`{source}`)."),
        gettext_noop("Line {line} (`{source}`) gave both one version counter."),
        gettext_noop("Line {line} (`{source}`) gave each its own version counter."),
    ),
}


def _explain_pair(run: QuizRun, a: str, b: str, field: str, at: int | None) -> str:
    """Say which line is the reason for a field of two tensors being the same, or not.

    Of the two lines that gave the names what they have, it is the later one. Empty for what has no
    storage or no counter: no line gave it one.
    """
    changes = [_list_changes(run, partial(_read_field, name, field), at) for name in (a, b)]
    snapshot = run.snapshot(at)
    if a == b or None in (_read_field(name, field, snapshot) for name in (a, b)):
        return ""
    first, second = changes[0][-1], changes[1][-1]
    last, x, other = (first, a, b) if first.position > second.position else (second, b, a)
    is_one = first.value == second.value
    sentences = _SENTENCES[field]
    if first.position == second.position:
        sentence = sentences.both if is_one else sentences.each
    else:
        sentence = sentences.given if is_one else sentences.own
        first_seen = _find_first_change(run, field, last.value)
        if not is_one and field != "id" and first_seen.position < last.position:
            # It was that of another tensor, of a gradient, or of a name in a function.
            sentence, last = sentences.older, first_seen
    return gettext(sentence, line=last.line, source=last.source, x=x, y=other)


def _read_field(name: str, field: str, snapshot: Snapshot) -> str | None:
    value: str | None = getattr(snapshot.tensor(name), field)
    return value


def _find_first_change(run: QuizRun, field: str, value: str) -> _Change:
    """Return the step after which a tensor, with or without a name, had a field of a value first."""

    def find_value(snapshot: Snapshot) -> str | None:
        has_value = any(getattr(tensor, field) == value for tensor in snapshot.tensors)
        return value if has_value else None

    return _list_changes(run, find_value, None)[0]


# -- a number of things -----------------------------------------------------------------


def find_first_lines(
    run: QuizRun, find_in: Callable[[Snapshot], Iterable[str]], at: int | None
) -> dict[str, int]:
    """Return the line after which each thing was there for the first time, by the key of the thing."""
    lines: dict[str, int] = {}
    for moment, step in _list_steps(run, at):
        for key in find_in(moment.snapshot):
            lines.setdefault(key, step.site.line)
    return lines


# Of one line, and of several: "no storage was added by line 2 and line 3" was read twice.
_NOTHING_ADDED = {
    "tensors": (
        gettext_noop("No tensor was added by {lines}."),
        gettext_noop("These lines added no tensor: {lines}."),
    ),
    "storages": (
        gettext_noop("No storage was added by {lines}."),
        gettext_noop("These lines added no storage: {lines}."),
    ),
    "counters": (
        gettext_noop("No version counter was added by {lines}."),
        gettext_noop("These lines added no version counter: {lines}."),
    ),
}


def explain_count(run: QuizRun, kind: str, first_lines: Mapping[str, int], at: int | None) -> str:
    """Say which lines gave a name to a tensor without a new thing of a kind; empty if none did.

    first_lines: what `find_first_lines` returns for the kind.
    """
    sources: dict[int, str] = {}
    for name, _ in run.snapshot(at).names:
        last = _list_changes(run, partial(_read_field, name, "id"), at)[-1]
        # A line that calls a function of the program is several: one inside of it may have added some.
        if last.kind == "ran" and last.line not in first_lines.values():
            sources[last.line] = last.source
    if not sources or kind not in _NOTHING_ADDED:
        return ""
    sentence = _NOTHING_ADDED[kind][len(sources) > 1]
    return gettext(sentence, lines=_join_lines(sources))


def explain_number(run: QuizRun, number: float, names: Sequence[str], *, at: int | None) -> str:
    """Say with which lines a number came to those of some tensors that show it; empty if none does."""
    sources: dict[int, str] = {}
    for name in names:
        shown = run.history(partial(_shows_number, name, number), at)
        if shown and shown[-1].value:
            sources[shown[-1].line] = shown[-1].source
    if not sources:
        return ""
    return gettext("The {number:g} came with {lines}.", number=number, lines=_join_lines(sources))


def _shows_number(name: str, number: float, moment: Moment) -> bool:
    return number in flatten_lists(moment.values[name])


def _join_lines(sources: Mapping[int, str]) -> str:
    """Return lines with their sources, by their numbers, as one phrase."""
    lines = [
        gettext("line {line} (`{source}`)", line=line, source=source)
        for line, source in sorted(sources.items())
    ]
    return labels.join_names(lines)


# -- a version --------------------------------------------------------------------------


def explain_version(run: QuizRun, x: str, *, at: int | None) -> str:
    """Say that no write was counted, or which line tied the name to a tensor with another count."""
    tensors = _list_changes(run, partial(_read_field, x, "id"), at)
    if run.tensor(x, at).version is None:
        return ""
    last = tensors[-1]
    if last.line != tensors[0].line:
        return gettext(
            "From line {line} (`{source}`) on, `{x}` is another tensor.",
            line=last.line,
            source=last.source,
            x=x,
        )
    versions = run.history(lambda moment: moment.snapshot.tensor(x).version, at)
    is_as_made = len(tensors) == len(versions) == 1
    return gettext("No write was counted for `{x}` since.", x=x) if is_as_made else ""
