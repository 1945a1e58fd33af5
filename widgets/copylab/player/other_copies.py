"""The copies of a program that the player lets one exchange, and what an exchange changed.

Only of a text that works with nothing of the user's: a function was given arguments, and names of a
notebook are in it, which the first run may have written to. A second run would begin elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from tinytorch.viz import LEVELS, Level, Snapshot, format_values

from ..copying import ProgramCopy, find_program_copies
from ..run import Limits, RecordedRun
from ..wording import gettext, gettext_noop

STORED_STEPS = 30
"""Maximum number of steps of a program whose runs with other copies a page stores."""

STORED_RUNS = 12
"""Maximum number of runs that a page stores: two copies with six others each."""

QUICK_SECONDS = 1.0
"""Processor time of a program above which its other runs are not made for a page: a display must
not run a training twelve times. Those of the lessons take 6 to 40 ms: stored outputs are compared,
so that none may come near it on a slow machine."""

STORED_LIMITS = Limits(max_steps=3 * STORED_STEPS)
"""Limits of a run for a page. With another copy, a loop may not end."""

_MOST_DIFFERENCES = 3


@dataclass(frozen=True)
class Pills:
    """What a player needs for its pills, as it is written into the form.

    copies: those of the program as it was. choices: the index of a copy -> the method that was put
    there. lines: where each copy is now. added: steps that were added before the others. code:
    the program. is_edited: it was written in the player. says: the choices. says_at_end: these and
    what they changed; at the last step alone, as it may be the answer that somebody steps for.
    make_stored: makes what a page stores, the forms of runs with one other copy, each with its
    number (`list_single_exchanges`).
    """

    copies: tuple[ProgramCopy, ...]
    choices: Mapping[int, str]
    lines: tuple[int, ...]
    added: int
    code: str
    is_edited: bool
    says: str = ""
    says_at_end: str = ""
    make_stored: Callable[[], Iterator[tuple[int, Any]]] = lambda: iter(())

    def to_json(self, *, is_live: bool) -> str | None:
        """Return what the player's script reads; None if nothing can be changed.

        is_live: there is a kernel, so the code can be edited as well.
        """
        if not (self.copies or is_live):
            return None
        values: dict[str, Any] = {
            "own": [copy.method.name for copy in self.copies],
            # Not in full words: of twenty copies a page had 8 kB of quotes.
            "bare": [index for index, copy in enumerate(self.copies) if not copy.is_assigned],
            "offered": self.copies[0].offered if self.copies else (),
            **self._list_changes(),
        }
        if self.choices:
            values["chosen"] = [
                self.choices.get(index, copy.method.name) for index, copy in enumerate(self.copies)
            ]
        if is_live:
            values["code"] = self.code
        return _write_json(values)

    def changes_to_json(self) -> str:
        """Return the same without what a page has of the program as it was."""
        return _write_json(self._list_changes())

    def _list_changes(self) -> dict[str, Any]:
        edited = {"edited": True} if self.is_edited else {}
        ends = {} if self.says_at_end == self.says else {"ends": self.says_at_end}
        return {"lines": self.lines, "added": self.added, "says": self.says, **ends, **edited}


def _write_json(values: Mapping[str, Any]) -> str:
    return json.dumps(values, ensure_ascii=False, separators=(",", ":"))


class RunEnd(NamedTuple):
    """A run, and whether a gradient in it is wrong without an error.

    last_line: the line of its last step in the program as it was, without what was added.
    """

    run: RecordedRun
    has_wrong_gradient: bool
    last_line: int


def find_copies_of_run(run: RecordedRun) -> tuple[ProgramCopy, ...]:
    """Return the copies in a program that was run; none if it worked with what is the user's."""
    if not run.is_closed:
        return ()
    observations = (step.observation for step in run.steps if step.observation is not None)
    names: set[str] = set()
    for seen in observations:
        # Inside of a function the snapshot calls a variable `y in f`.
        names.update(name.partition(" in ")[0] for name, _ in seen.snapshot.names)
    return find_program_copies(run.texts[0].code, names)


def list_single_exchanges(copies: tuple[ProgramCopy, ...]) -> list[tuple[int, dict[int, str]]]:
    """Return the choices that exchange one copy, each with the number of its run.

    The first other method of each copy comes before the second of any: a page that has no room for
    all has some for each.
    """
    found = []
    for index, copy in enumerate(copies):
        for position, name in enumerate(copy.methods):
            if name != copy.method.name:
                # The player's script counts in the same way.
                found.append((100 * index + position, {index: name}))
    return sorted(found, key=lambda pair: (pair[0] % 100, pair[0]))


def may_store_runs(run: RecordedRun) -> bool:
    """Return True if a program can be run again while its player is displayed.

    It did nothing outside of itself, and is short and quick.
    """
    is_small = len(run.steps) <= STORED_STEPS and run.seconds_of_work <= QUICK_SECONDS
    return is_small and run.can_repeat


# -- what an exchange changed ------------------------------------------------------


def describe_exchange(pills: Pills, before: RunEnd, now: RunEnd, level: Level) -> Pills:
    """Return the pills with the sentences on other copies and on what they changed, no more than a level."""
    exchanges = []
    for index, name in sorted(pills.choices.items()):
        copy = pills.copies[index]
        # Its label, "nothing", says in a sentence neither what is gone nor what is new.
        is_plain = {"=": not copy.is_assigned}
        sentence = gettext_noop("{new} instead of {old} on line {line}")
        if is_plain.get(name):
            sentence = gettext_noop("without {old} on line {line}")
        elif is_plain.get(copy.method.name):
            sentence = gettext_noop("with {new} on line {line}")
        new, old = copy.label(name), copy.label(copy.method.name)
        exchanges.append(gettext(sentence, new=new, old=old, line=pills.lines[index]))
    differences = list(_list_differences(before, now, level))
    missing = len(differences) - _MOST_DIFFERENCES
    if missing > 0:
        differences[_MOST_DIFFERENCES:] = [gettext("and {number} more", number=missing)]
    start = gettext("; ").join(exchanges)
    says = says_at_end = gettext("{exchange}.", exchange=start)
    if differences:
        says_at_end = gettext(
            "{exchange}: {differences}.",
            exchange=start,
            differences=gettext("; ").join(differences),
        )
    return replace(pills, says=says, says_at_end=says_at_end)


def _has_error(before: RunEnd, now: RunEnd) -> bool:
    return "error" in (before.run.ended, now.run.ended)


def _list_differences(before: RunEnd, now: RunEnd, level: Level) -> Iterator[str]:
    """Yield in what the ends of two runs differ; nothing if they cannot be compared."""
    # Of a run that met a limit nobody knows how it would have ended.
    if not {before.run.ended, now.run.ended} <= {"finished", "error"}:
        return
    has_error = _has_error(before, now)
    if has_error:
        yield from _compare_errors(before, now)
    if now.has_wrong_gradient and not before.has_wrong_gradient:
        yield gettext("a gradient is now wrong, and no error says so")
    # An error may have come before the backward that would have been wrong.
    elif before.has_wrong_gradient and not now.has_wrong_gradient and not has_error:
        yield gettext("no gradient is found wrong any more")
    if not has_error and before.run.steps and now.run.steps:
        end_before, end_now = before.run.steps[-1].observation, now.run.steps[-1].observation
        # What is random, or read from elsewhere, is no doing of the copy.
        can_repeat = before.run.can_repeat and now.run.can_repeat
        yield from _compare_ends(
            end_before.snapshot, end_now.snapshot, level, with_values=can_repeat
        )
        if not can_repeat:
            yield gettext("values are not compared: they may differ from run to run")


def _compare_errors(before: RunEnd, now: RunEnd) -> Iterator[str]:
    error_before, error_now = _phrase_error(before.run), _phrase_error(now.run)
    if not error_now:
        yield gettext("it no longer raises {error}", error=error_before)
    elif not error_before:
        yield gettext("it now raises {error}", error=error_now)
    # An import that was added moves all lines, and is no other error.
    elif (_name_error(before.run), before.last_line) != (_name_error(now.run), now.last_line):
        yield gettext("it now raises {error}, and not {other}", error=error_now, other=error_before)
    elif before.run.error != now.run.error:
        yield gettext("it still raises {error}, but with another message", error=error_now)
    else:
        yield gettext("it still raises {error}", error=error_now)


def _phrase_error(run: RecordedRun) -> str:
    """Return `RuntimeError on line 6`; empty if no error ended a run."""
    if run.error is None:
        return ""
    place = run.steps[-1].site.phrase_place(several=len(run.texts) > 1)
    return gettext("{error} {place}", error=_name_error(run), place=place)


def _name_error(run: RecordedRun) -> str:
    """Return the class of the error that ended a run; empty if none did."""
    return (run.error or "").partition(":")[0]


def _compare_ends(
    before: Snapshot, now: Snapshot, level: Level, *, with_values: bool
) -> Iterator[str]:
    """Yield in what tensors of the same names differ. That nothing does says little.

    Other variables are not looked at, nor is what has another name, nor more than a few digits.
    """
    names = [name for name, _ in now.names if name in dict(before.names)]
    if with_values:
        yield from _compare_facts(
            _read_values(before, names, level), _read_values(now, names, level)
        )
    yield from _compare_relations(before, now, names, level)
    yield from _compare_facts(
        _read_attributes(before, names, level), _read_attributes(now, names, level)
    )


def _compare_facts(
    before: Mapping[str, str | None], now: Mapping[str, str | None]
) -> Iterator[str]:
    for subject, text in now.items():
        earlier = before.get(subject)
        # None where one of the runs has it not, or too large to be read.
        if text != earlier and text is not None and earlier is not None:
            yield gettext("{name} is now {now}, not {then}", name=subject, now=text, then=earlier)


def _read_values(snap: Snapshot, names: Iterable[str], level: Level) -> dict[str, str | None]:
    """Return the gradients of tensors, then their values; None where not all were read."""
    ids = dict(snap.names)
    facts: dict[str, str | None] = {}
    # As in the sentences of a step, gradients are explained at the last level.
    for name in names if level == LEVELS[-1] else ():
        grad = snap.tensor(ids[name]).grad
        facts[f"{name}.grad"] = "None" if grad is None else _format_small(snap, grad)
    facts.update((name, _format_small(snap, ids[name])) for name in names)
    return facts


def _format_small(snap: Snapshot, tensor_id: str) -> str | None:
    # Of a large tensor there is the shape alone, which says nothing of its values.
    is_read = snap.values(snap.tensor(tensor_id), 6) is not None
    return format_values(snap, tensor_id) if is_read else None


def _read_attributes(snap: Snapshot, names: Collection[str], level: Level) -> dict[str, str | None]:
    tensors = {name: snap.tensor(tensor_id) for name, tensor_id in snap.names if name in names}
    facts: dict[str, str | None] = {}
    if level == LEVELS[-1]:
        facts |= {
            f"{name}.requires_grad": str(each.requires_grad) for name, each in tensors.items()
        }
    if LEVELS.index(level) >= LEVELS.index("counter"):
        facts |= {
            gettext("version of {names}", names=name): str(each.version)
            for name, each in tensors.items()
        }
    return facts


def _compare_relations(
    before: Snapshot, now: Snapshot, names: list[str], level: Level
) -> Iterator[str]:
    """Yield for each pair of names what the two share, where that is another thing now."""
    apart: set[frozenset[str | None]] = set()
    for position, name in enumerate(names):
        for other in names[:position]:
            relation = _find_relation(now, name, other, level)
            if not relation or relation == _find_relation(before, name, other, level):
                continue
            storages = _find_storages(now, name, other)
            # Of two storages it is said once, and not of each view of them.
            if relation != "nothing" or storages not in apart:
                yield gettext(_RELATIONS[relation], name=name, other=other)
            # Two views of one storage may share no cell while others do.
            if relation == "nothing" and len(storages) > 1:
                apart.add(storages)


def _find_storages(snap: Snapshot, *names: str) -> frozenset[str | None]:
    ids = dict(snap.names)
    return frozenset(snap.tensor(ids[name]).storage for name in names)


def _find_relation(snap: Snapshot, name: str, other: str, level: Level) -> str:
    """Return the key of `_RELATIONS`; empty where a level says nothing of it."""
    first, second = dict(snap.names)[name], dict(snap.names)[other]
    if first == second:
        return "tensor"
    if level == "names":
        return ""
    if not snap.shares_cells(first, second):
        return "nothing"
    if level == "storage":
        return "memory"
    return "counter" if snap.shares_counter(first, second) else "cells"


_RELATIONS = {
    "tensor": gettext_noop("{name} is the same tensor as {other}"),
    "memory": gettext_noop("{name} shares memory with {other}"),
    "counter": gettext_noop("{name} shares memory and version counter with {other}"),
    "cells": gettext_noop("{name} shares memory with {other}, but not the version counter"),
    "nothing": gettext_noop("{name} shares no memory with {other}"),
}
