"""The facts of a run that decide a question, in words. Everything here is read off the run."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tinytorch.viz import labels
from tinytorch.viz.read.records import Snapshot, Tensor

from .answers import number
from .runs import Moment, Run

_UNWRITTEN = re.compile(r"\bempty(_like|_strided)?\(|\bnew_empty\(")


def tensors(run: Run, a: str, b: str, at: int | None) -> str:
    """Whether two names mean one tensor."""
    if run.tensor(a, at).id == run.tensor(b, at).id:
        return f"`{b} is {a}` is True: one tensor with two names."
    return f"`{b} is {a}` is False: two tensors."


def storages(run: Run, a: str, b: str, at: int | None) -> str:
    """Which storages two tensors look at."""
    one, other = run.tensor(a, at), run.tensor(b, at)
    if one.storage != other.storage:
        return f"{one.storage} is the storage of `{a}`, {other.storage} that of `{b}`."
    if one.id == other.id:
        return f"`{b} is {a}` is True: one tensor, so one storage, {one.storage}."
    return f"`{a}` and `{b}` both look at {one.storage}."


def counters(run: Run, a: str, b: str, at: int | None) -> str:
    """Which version counters two tensors have."""
    one, other = run.tensor(a, at), run.tensor(b, at)
    if one.counter == other.counter:
        return f"{one.counter} counts for `{a}` and for `{b}`."
    memory = f", although both look at {one.storage}" if one.storage == other.storage else ""
    return f"{one.counter} counts for `{a}`, {other.counter} for `{b}`{memory}."


def node(run: Run, y: str, at: int | None) -> str:
    """What a tensor was made by."""
    tensor = run.tensor(y, at)
    if tensor.grad_fn_name is not None:
        return f"`{y}.grad_fn` is {tensor.grad_fn_name}: `{y}` was computed, and that was recorded. So it is no leaf."
    return f"`{y}.grad_fn` is None: no recorded operation made `{y}`. So it is a leaf."


def requires_grad(run: Run, y: str, at: int | None) -> str:
    """Whether a tensor requires grad, and where it has that from."""
    tensor = run.tensor(y, at)
    if not tensor.requires_grad:
        return f"`{y}.requires_grad` is False."
    source = "asked for" if tensor.is_leaf else f"inherited: its node is {tensor.grad_fn_name}"
    return f"`{y}.requires_grad` is True, {source}."


def versions(run: Run, x: str, at: int | None) -> str:
    """The versions a tensor went through, and who shares its counter."""
    tensor, snapshot = run.tensor(x, at), run.snapshot(at)
    told = _course(run, lambda moment: moment.snapshot.tensor(x).version, at)
    others = [] if tensor.counter is None else [t for t in snapshot.counter(tensor.counter).tensors if t != tensor.id]
    named = [f"`{snapshot.label(other)}`" for other in others if snapshot.tensor(other).names]
    return f"`{x}._version`: {told}" + (
        f" {tensor.counter} counts for {labels.listed(named)} as well." if named else ""
    )


def values(run: Run, x: str, at: int | None) -> str:
    """The values that a name went through."""
    return f"`{x}`: {_course(run, lambda moment: moment.values[x], at)}"


def gradients(run: Run, x: str, at: int | None) -> str:
    """The gradients that a tensor went through."""
    told = _course(run, lambda moment: moment.grads[x], at)
    tensor = run.tensor(x, at)
    if told:
        return f"`{x}.grad`: {told}"
    if not tensor.requires_grad:
        return f"`{x}.grad` is None: `{x}` does not require grad."
    if not tensor.is_leaf:
        return f"`{x}.grad` is None: `{x}` is no leaf, its node is {tensor.grad_fn_name}."
    return f"`{x}.grad` is None: no `backward` had reached `{x}`."


def _course(run: Run, ask: Callable[[Moment], Any], at: int | None) -> str:
    """Each value with the line after which it was there: 1 after line 2 (...); 5 after line 6 (...)."""
    told = run.history(ask, at)
    parts = [f"{_what(now, source)} after line {line} (`{source}`)" for line, source, now in told]
    shown = parts if len(parts) <= 6 else [*parts[:2], "...", *parts[-3:]]
    return "; ".join(shown) + "." if parts else ""


def _what(now: Any, source: str) -> str:
    """A value; not that of memory which nobody has written yet, for it is another one in each run."""
    return "whatever lay there" if _UNWRITTEN.search(source) else number(now)


def outcome(run: Run) -> str:
    """How the run ended."""
    if run.error is None:
        return stopped(run) if run.endless else "No line raised an error."
    error = run.error.partition("\n")[0]
    why = " ".join(run.steps[-1].explanation)
    return f"Line {run.error_line} raises {error if len(error) < 400 else error[:400] + ' ...'} {why}".rstrip()


def stopped(run: Run) -> str:
    """That the run did not come to its end, and when it was stopped."""
    return f"It was stopped after {len(run.trace.steps):,} steps, and was still running."


def flat(value: Any) -> list[Any]:
    """The elements of nested lists, in order; a single value as a list of one."""
    return list(_elements(value))


def _elements(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _elements(one)
    else:
        yield value


def shown_by(run: Run, names: Sequence[str], at: int | None) -> str:
    """What each of several tensors shows."""
    return " ".join(f"`{name}` is {number(run.value(name, at))}." for name in names)


def _shown_tensors(snapshot: Snapshot) -> dict[str, str]:
    seen = [tensor for _, members in snapshot.shown_storages for tensor in members]
    return {tensor.id: snapshot.label(tensor.id) for tensor in seen}


def _shown_counters(snapshot: Snapshot) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for which, name in _shown_tensors(snapshot).items():
        tensor = snapshot.tensor(which)
        if tensor.counter is not None and snapshot.counted(tensor):
            found.setdefault(tensor.counter, []).append(name)
    return {counter: labels.listed(names) for counter, names in found.items()}


COUNTED: Mapping[str, Callable[[Snapshot], dict[str, str]]] = {
    "names": lambda snapshot: {name: f"for {tid}" for name, tid in snapshot.names},
    "tensors": _shown_tensors,
    "storages": lambda snapshot: {
        storage.id: labels.listed([snapshot.label(one.id) for one in members])
        for storage, members in snapshot.shown_storages
    },
    "counters": _shown_counters,
}
"""What can be counted: for each the ids that the memory picture shows, and what they belong to."""


def counted(run: Run, what: str, at: int | None) -> str:
    """How many there are, one by one."""
    found = COUNTED[what](run.snapshot(at))
    if what == "names":
        return f"{len(found)} names: {', '.join(f'`{name}`' for name in found)}."
    each = [f"`{names}`" if what == "tensors" else f"{which} of `{names}`" for which, names in found.items()]
    return f"{labels.plural(len(found), what[:-1])}: {'; '.join(each)}."


@dataclass(frozen=True)
class Test:
    """Something that holds for a tensor or not: how it is asked, and how it is told of one."""

    asks: str
    holds: Callable[[Tensor], bool]
    tells: Callable[[Run, str, int | None], str]


TESTS: Mapping[str, Test] = {
    "is_leaf": Test("are leaves", lambda tensor: bool(tensor.is_leaf), node),
    "requires_grad": Test("require grad", lambda tensor: tensor.requires_grad, requires_grad),
    "on_graph": Test("have a node (`grad_fn`)", lambda tensor: tensor.grad_fn_name is not None, node),
    "has_grad": Test("have a `.grad` that is not None", lambda tensor: tensor.grad is not None, gradients),
}
"""What `names_that` can ask by name."""
