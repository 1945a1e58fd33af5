"""What can only be found by doing: does a write show, does a gradient arrive. Each in a run of its own."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping
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
    return seen, gettext(said, code=f"{through}.fill_({mark})", name=x, value=number(source.tolist()))


@functools.lru_cache(maxsize=64)  # the answer and what decides it are asked for one after the other
def gradient_arrives(run: Run, x: str, of: str, at: int | None) -> tuple[bool, str]:
    """Whether `of.sum().backward()` brings a gradient to `x`, and by which way."""
    names = run.fresh(at)
    source, result = _live(names, x), _live(names, of)
    way = _way(run.snapshot(at), x, of)
    if not source.requires_grad:
        return False, gettext("`{name}` does not require grad, so no gradient is computed for it.", name=x)
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
            return False, gettext("Tried: `{code}` raises an error: {reason}.", code=code, reason=reason)
        arrived = quietly(source, "grad")
    said = gettext_noop("Tried: `{code}`; `{name}.grad` is then {value}. {way}")
    if arrived is None:
        said = gettext_noop("Tried: `{code}`; `{name}.grad` stays None. {way}")
    value = arrived if arrived is None else number(arrived.tolist())
    return arrived is not None, gettext(said, code=code, name=x, value=value, way=way)


def _way(snapshot: Snapshot, x: str, of: str) -> str:
    """The nodes on the way from `of` to `x`, in words."""
    source, start = snapshot.tensor(x), snapshot.tensor(of).grad_fn
    goal = {node.id for node in snapshot.nodes if node.variable == source.id} | {source.grad_fn} - {None}
    if start is None:
        return gettext("`{name}` has no node.", name=of)
    ways, met = [[start]], {start}
    for way in ways:
        if way[-1] in goal:
            names = [labels.short(snapshot.node(one).name) for one in way]
            told = ", ".join(names if len(names) < 9 else [*names[:4], "...", *names[-3:]])
            return gettext("The way of the nodes: {nodes}.", nodes=told)
        for edge in snapshot.node(way[-1]).edges:
            if edge.node is not None and edge.node not in met:
                met.add(edge.node)
                ways.append([*way, edge.node])
    return gettext("None of the nodes behind `{of}` leads to `{name}`.", of=of, name=x)
