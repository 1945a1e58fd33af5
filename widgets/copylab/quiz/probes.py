"""What can only be found by doing: does a write show, does a gradient arrive. Each in a run of its own."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tinytorch.viz import labels
from tinytorch.viz.catalogue import gettext, gettext_noop
from tinytorch.viz.read.naming import collect
from tinytorch.viz.read.probe import quietly
from tinytorch.viz.read.records import Snapshot

from .answers import number
from .evidence import flat
from .runs import Run


def _live(names: Mapping[str, Any], name: str) -> Any:
    found = dict(collect((dict(names),), {}, None))
    if name not in found:
        raise ValueError(f"the code has no tensor called {name!r}")
    return found[name]


def _once(probe: Callable[..., tuple[bool, str]]) -> Callable[..., tuple[bool, str]]:
    """Let a probe be made once of a run: its answer and what decides it are asked for one after the other."""

    @functools.wraps(probe)
    def tried(run: Run, *what: Any) -> tuple[bool, str]:
        key = (probe.__name__, *what)
        if key not in run.tried:
            run.tried[key] = probe(run, *what)
        return run.tried[key]

    return tried


@_once
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
    code = f"{through}.fill_({mark})"
    if len(after) <= 12:
        value = number(source.tolist())
        return seen, gettext("Tried: `{code}`; `{name}` then shows {value}.", code=code, name=x, value=value)
    said = (
        gettext_noop("Tried: `{code}`; `{name}` changes.") if seen else gettext_noop("Tried: `{code}`; `{name}` stays.")
    )
    return seen, gettext(said, code=code, name=x)


@_once
def gradient_arrives(run: Run, x: str, of: str, at: int | None) -> tuple[bool, str]:
    """Whether `of.sum().backward()` brings a gradient to `x`, and by which way."""
    names = run.fresh(at)
    source, result = _live(names, x), _live(names, of)
    way = _way(run.snapshot(at), x, of)
    if not source.requires_grad:
        return False, gettext("`{name}` does not require grad, so no gradient is computed for it.", name=x)
    if not result.requires_grad:
        said = gettext(
            "`{name}` does not require grad: there is no node to begin at, and `backward` raises an error.", name=of
        )
        return False, said
    code = f"{of}.sum().backward()"
    with warnings.catch_warnings(action="ignore"):
        source.grad = None
        if not source.is_leaf:
            source.retain_grad()
        try:
            result.sum().backward()
        except RuntimeError as error:
            reason = str(error).partition(". ")[0].partition("\n")[0]
            return False, gettext("Tried: `{code}` raises an error: {reason}.", code=code, reason=reason)
        arrived = quietly(source, "grad")
    if arrived is None:
        return False, gettext("Tried: `{code}`; `{name}.grad` stays None. {way}", code=code, name=x, way=way)
    value = number(arrived.tolist())
    said = gettext("Tried: `{code}`; `{name}.grad` is then {value}. {way}", code=code, name=x, value=value, way=way)
    return True, said


def _way(snapshot: Snapshot, x: str, of: str) -> str:
    """The nodes on the way from `of` to `x`, in words."""
    source, start = snapshot.tensor(x), snapshot.tensor(of).grad_fn
    goal = {node.id for node in snapshot.nodes if node.variable == source.id} | {source.grad_fn} - {None}
    if start is None:
        return gettext("`{name}` has no node.", name=of)
    came: dict[str, str | None] = {start: None}
    waiting = [start]
    for here in waiting:
        if here in goal:
            path = [here]
            while (before := came[path[-1]]) is not None:
                path.append(before)
            names = [labels.short(snapshot.node(one).name) for one in reversed(path)]
            told = ", ".join(names if len(names) < 9 else [*names[:4], "...", *names[-3:]])
            return gettext("The way of the nodes: {nodes}.", nodes=told)
        for end in snapshot.node(here).ends:
            if end not in came:
                came[end] = here
                waiting.append(end)
    return gettext("None of the nodes behind `{of}` leads to `{name}`.", of=of, name=x)
