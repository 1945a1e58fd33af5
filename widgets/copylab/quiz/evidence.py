"""The facts of a run that decide a question, in words. Everything here is read off the run.

What can only be found by doing (does a write show, does a gradient arrive) is tried, each in a run of its own.
"""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tinytorch.viz import (
    Snapshot,
    Tensor,
    collect_tensors,
    getattr_or_none,
    gettext,
    gettext_noop,
    labels,
    ngettext,
)

from .answers import number
from .runs import Moment, Run

_UNWRITTEN = re.compile(r"\bempty(_like|_strided)?\(|\bnew_empty\(")


def tensors(run: Run, a: str, b: str, *, at: int | None) -> str:
    """Whether two names mean one tensor."""
    if run.tensor(a, at).id == run.tensor(b, at).id:
        return gettext("`{b} is {a}` is True: one tensor with two names.", a=a, b=b)
    return gettext("`{b} is {a}` is False: two tensors.", a=a, b=b)


def storages(run: Run, a: str, b: str, *, at: int | None) -> str:
    """Which storages two tensors look at."""
    one, other = run.tensor(a, at), run.tensor(b, at)
    if one.storage != other.storage:
        said = gettext_noop("{first} is the storage of `{a}`, {second} that of `{b}`.")
    elif one.id == other.id:
        said = gettext_noop("`{b} is {a}` is True: one tensor, so one storage, {first}.")
    else:
        said = gettext_noop("`{a}` and `{b}` both look at {first}.")
    return gettext(said, a=a, b=b, first=one.storage, second=other.storage)


def counters(run: Run, a: str, b: str, *, at: int | None) -> str:
    """Which version counters two tensors have."""
    one, other = run.tensor(a, at), run.tensor(b, at)
    if one.counter == other.counter:
        said = gettext_noop("{first} counts for `{a}` and for `{b}`.")
    elif one.storage == other.storage:
        said = gettext_noop(
            "{first} counts for `{a}`, {second} for `{b}`, although both look at {storage}."
        )
    else:
        said = gettext_noop("{first} counts for `{a}`, {second} for `{b}`.")
    return gettext(said, a=a, b=b, first=one.counter, second=other.counter, storage=one.storage)


def node(run: Run, y: str, *, at: int | None) -> str:
    """What a tensor was made by."""
    made = run.tensor(y, at).grad_fn_name
    if made is None:
        return gettext(
            "`{y}.grad_fn` is None: no recorded operation made `{y}`. So it is a leaf.", y=y
        )
    return gettext(
        "`{y}.grad_fn` is {node}: `{y}` was computed, and that was recorded. So it is no leaf.",
        y=y,
        node=labels.short_node_name(made),
    )


def requires_grad(run: Run, y: str, *, at: int | None) -> str:
    """Whether a tensor requires grad, and where it has that from."""
    tensor = run.tensor(y, at)
    if not tensor.requires_grad:
        return gettext("`{y}.requires_grad` is False.", y=y)
    if tensor.is_leaf:
        return gettext("`{y}.requires_grad` is True, asked for.", y=y)
    return gettext(
        "`{y}.requires_grad` is True, inherited: its node is {node}.",
        y=y,
        node=labels.short_node_name(tensor.grad_fn_name or ""),
    )


def versions(run: Run, x: str, *, at: int | None) -> str:
    """The versions a tensor went through, and who shares its counter."""
    tensor, snapshot = run.tensor(x, at), run.snapshot(at)
    told = f"`{x}._version`: {_course(run, lambda moment: moment.snapshot.tensor(x).version, at)}"
    others = (
        []
        if tensor.counter is None
        else [t for t in snapshot.counter(tensor.counter).tensors if t != tensor.id]
    )
    named = [f"`{snapshot.label(other)}`" for other in others if snapshot.tensor(other).names]
    if not named:
        return told
    also = gettext(
        "{counter} counts for {names} as well.",
        counter=tensor.counter,
        names=labels.join_names(named),
    )
    return f"{told} {also}"


def values(run: Run, x: str, *, at: int | None) -> str:
    """The values that a name went through."""
    return f"`{x}`: {_course(run, lambda moment: moment.values[x], at)}"


def gradients(run: Run, x: str, *, at: int | None) -> str:
    """The gradients that a tensor went through."""
    told = _course(run, lambda moment: moment.grads[x], at)
    tensor = run.tensor(x, at)
    if told:
        return f"`{x}.grad`: {told}"
    if not tensor.requires_grad:
        said = gettext_noop("`{x}.grad` is None: `{x}` does not require grad.")
    elif not tensor.is_leaf:
        said = gettext_noop("`{x}.grad` is None: `{x}` is no leaf, its node is {node}.")
    else:
        said = gettext_noop("`{x}.grad` is None: no `backward` had reached `{x}`.")
    return gettext(said, x=x, node=tensor.grad_fn_name)


def _course(run: Run, ask: Callable[[Moment], Any], at: int | None) -> str:
    """Each value with the line after which it was there: 1 after line 2 (...); 5 after line 6 (...)."""
    parts = []
    for line, source, now in run.history(ask, at):
        # What nobody has written yet is another value in each run.
        what = gettext("whatever lay there") if _UNWRITTEN.search(source) else number(now)
        parts.append(
            gettext("{value} after line {line} (`{source}`)", value=what, line=line, source=source)
        )
    shown = parts if len(parts) <= 6 else [*parts[:2], "...", *parts[-3:]]
    return gettext("{course}.", course=gettext("; ").join(shown)) if parts else ""


def outcome(run: Run) -> str:
    """How the run ended."""
    if run.trace.error is None:
        return stopped(run) if run.endless else gettext("No line raised an error.")
    error = run.trace.error.partition("\n")[0]
    shown = error if len(error) < 400 else error[:400] + " ..."
    said = gettext("Line {line} raises {error}", line=run.error_line, error=shown)
    return " ".join([said, *run.steps[-1].explanation])


def stopped(run: Run) -> str:
    """That the run did not come to its end, and when it was stopped."""
    return gettext(
        "It was stopped after {steps} steps, and was still running.",
        steps=format(len(run.trace.steps), ","),
    )


def printed(run: Run, line: int) -> str:
    """What a line printed."""
    return gettext("Line {line} prints `{printed}`.", line=line, printed=run.printed(line))


def flat(value: Any) -> Iterator[Any]:
    """The elements of nested lists, in order; a single value alone."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from flat(one)
    else:
        yield value


def shown_by(run: Run, _number: float, *names: str, at: int | None) -> str:
    """What each of several tensors shows."""
    shown = [
        gettext("`{name}` is {value}.", name=name, value=number(run.value(name, at)))
        for name in names
    ]
    return " ".join(shown)


def _shown_tensors(snapshot: Snapshot) -> dict[str, str]:
    seen = [tensor for _, members in snapshot.shown_storages for tensor in members]
    return {tensor.id: snapshot.label(tensor.id) for tensor in seen}


def _shown_storages(snapshot: Snapshot) -> dict[str, str]:
    shown = snapshot.shown_storages
    return {
        one.id: labels.join_names([snapshot.label(tensor.id) for tensor in members])
        for one, members in shown
    }


def _shown_counters(snapshot: Snapshot) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for which, name in _shown_tensors(snapshot).items():
        tensor = snapshot.tensor(which)
        if tensor.counter is not None and snapshot.shows_counter(tensor):
            found.setdefault(tensor.counter, []).append(name)
    return {counter: labels.join_names(names) for counter, names in found.items()}


@dataclass(frozen=True)
class Kind:
    """Something that can be counted: how it is asked, and what the memory picture shows of it, with its names."""

    asks: str
    found: Callable[[Snapshot], dict[str, str]]


COUNTED: Mapping[str, Kind] = {
    "names": Kind(gettext_noop("How many names are there?"), lambda snapshot: dict(snapshot.names)),
    "tensors": Kind(gettext_noop("How many tensors are there?"), _shown_tensors),
    "storages": Kind(gettext_noop("How many storages are there?"), _shown_storages),
    "counters": Kind(gettext_noop("How many version counters are there?"), _shown_counters),
}


def counted(run: Run, what: str, *, at: int | None) -> str:
    """How many there are, one by one."""
    found = COUNTED[what].found(run.snapshot(at))
    if what == "names":
        each = ", ".join(f"`{name}`" for name in found)
        return gettext("{number} names: {each}.", number=len(found), each=each)
    if what == "tensors":
        each = "; ".join(f"`{names}`" for names in found.values())
        return ngettext(
            "{number} tensor: {each}.", "{number} tensors: {each}.", len(found), each=each
        )
    each = "; ".join(
        gettext("{which} of `{names}`", which=which, names=names) for which, names in found.items()
    )
    if what == "storages":
        return ngettext(
            "{number} storage: {each}.", "{number} storages: {each}.", len(found), each=each
        )
    return ngettext(
        "{number} counter: {each}.", "{number} counters: {each}.", len(found), each=each
    )


@dataclass(frozen=True)
class Test:
    """Something that holds for a tensor or not: how it is asked, and how it is told of one."""

    asks: str
    holds: Callable[[Tensor], bool]
    tells: Callable[..., str]


TESTS: Mapping[str, Test] = {
    "is_leaf": Test(
        gettext_noop("Which of {names} are leaves?"), lambda tensor: bool(tensor.is_leaf), node
    ),
    "requires_grad": Test(
        gettext_noop("Which of {names} require grad?"),
        lambda tensor: tensor.requires_grad,
        requires_grad,
    ),
    "on_graph": Test(
        gettext_noop("Which of {names} have a node (`grad_fn`)?"),
        lambda tensor: tensor.grad_fn_name is not None,
        node,
    ),
    "has_grad": Test(
        gettext_noop("Which of {names} have a `.grad` that is not None?"),
        lambda tensor: tensor.grad is not None,
        gradients,
    ),
}
"""What `names_that` can ask by name."""


def those(
    run: Run, what: str | Callable[[Run, str], bool], *names: str, at: int | None
) -> frozenset[str]:
    """The names of which `what` holds: a test of TESTS, or a function of the run and a name."""
    if callable(what):
        return frozenset(name for name in names if what(run, name))
    return frozenset(name for name in names if TESTS[what].holds(run.tensor(name, at)))


def each_of(run: Run, what: str | Callable[[Run, str], bool], *names: str, at: int | None) -> str:
    """What decides of each name whether `what` holds."""
    if callable(what):
        found = ", ".join(sorted(those(run, what, *names, at=at)))
        return gettext("The run says: {names}.", names=found or gettext("none"))
    return " ".join(TESTS[what].tells(run, name, at=at) for name in names)


def _live(names: Mapping[str, Any], name: str) -> Any:
    found = dict(collect_tensors((dict(names),), {}, None))
    if name not in found:
        raise ValueError(f"the code has no tensor called {name!r}")
    return found[name]


@functools.lru_cache(maxsize=64)  # the answer and what decides it are asked for one after the other
def write_is_seen(run: Run, x: str, through: str, at: int | None) -> tuple[bool, str]:
    """Whether `x` shows a number written into every element of `through`, and what the run showed."""
    names = run.fresh(at)
    source, target = _live(names, x), _live(names, through)
    before = list(flat(source.tolist()))
    unused = next(n for n in range(7, 9 + len(before)) if n not in before)
    mark: Any = not before[0] if before and isinstance(before[0], bool) else unused
    with run.engine.no_grad():
        target.fill_(mark)
    after = list(flat(source.tolist()))
    seen = after != before
    said = gettext_noop("Tried: `{code}`; `{name}` stays.")
    if len(after) <= 12:
        said = gettext_noop("Tried: `{code}`; `{name}` then shows {value}.")
    elif seen:
        said = gettext_noop("Tried: `{code}`; `{name}` changes.")
    return seen, gettext(
        said, code=f"{through}.fill_({mark})", name=x, value=number(source.tolist())
    )


@functools.lru_cache(maxsize=64)  # the answer and what decides it are asked for one after the other
def gradient_arrives(run: Run, x: str, of: str, at: int | None) -> tuple[bool, str]:
    """Whether `of.sum().backward()` brings a gradient to `x`, and by which way."""
    names = run.fresh(at)
    source, result = _live(names, x), _live(names, of)
    way = _way(run.snapshot(at), x, of)
    if not source.requires_grad:
        return False, gettext(
            "`{name}` does not require grad, so no gradient is computed for it.", name=x
        )
    if not result.requires_grad:
        said = gettext_noop(
            "`{name}` does not require grad: there is no node to begin at, and `backward` raises an error."
        )
        return False, gettext(said, name=of)
    code = f"{of}.sum().backward()"
    with warnings.catch_warnings(action="ignore"):
        source.grad = None
        if not source.is_leaf:
            source.retain_grad()
        try:
            result.sum().backward()
        except RuntimeError as error:
            reason = str(error).partition(". ")[0].partition("\n")[0]
            return False, gettext(
                "Tried: `{code}` raises an error: {reason}.", code=code, reason=reason
            )
        arrived = getattr_or_none(source, "grad")
    said = gettext_noop("Tried: `{code}`; `{name}.grad` is then {value}. {way}")
    if arrived is None:
        said = gettext_noop("Tried: `{code}`; `{name}.grad` stays None. {way}")
    value = arrived if arrived is None else number(arrived.tolist())
    return arrived is not None, gettext(said, code=code, name=x, value=value, way=way)


def _way(snapshot: Snapshot, x: str, of: str) -> str:
    """The nodes on the way from `of` to `x`, in words."""
    source, start = snapshot.tensor(x), snapshot.tensor(of).grad_fn
    goal = {node.id for node in snapshot.nodes if node.variable == source.id} | {source.grad_fn} - {
        None
    }
    if start is None:
        return gettext("`{name}` has no node.", name=of)
    ways, met = [[start]], {start}
    for way in ways:
        if way[-1] in goal:
            names = [labels.short_node_name(snapshot.node(one).name) for one in way]
            told = ", ".join(names if len(names) < 9 else [*names[:4], "...", *names[-3:]])
            return gettext("The way of the nodes: {nodes}.", nodes=told)
        for end in snapshot.node(way[-1]).ends:
            if end not in met:
                met.add(end)
                ways.append([*way, end])
    return gettext("None of the nodes behind `{of}` leads to `{name}`.", of=of, name=x)
