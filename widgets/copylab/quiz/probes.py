"""What can only be found by doing: does a write show, does a gradient arrive. Each in a run of its own."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from tinytorch.viz import labels
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


def write_is_seen(run: Run, x: str, through: str, at: int | None = None) -> tuple[bool, str]:
    """Whether `x` shows a number written into every element of `through`, and what the run showed."""
    return _once(_write, run, x, through, at)


def gradient_arrives(run: Run, x: str, of: str, at: int | None = None) -> tuple[bool, str]:
    """Whether `of.sum().backward()` brings a gradient to `x`, and by which way."""
    return _once(_backward, run, x, of, at)


def _once(probe: Callable[..., tuple[bool, str]], run: Run, *what: Any) -> tuple[bool, str]:
    key = (probe.__name__, *what)
    if key not in run.tried:
        run.tried[key] = probe(run, *what)
    return run.tried[key]


def _write(run: Run, x: str, through: str, at: int | None) -> tuple[bool, str]:
    names = run.fresh(at)
    source, target = _live(names, x), _live(names, through)
    before = list(flat(source.tolist()))
    mark: Any = not before[0] if before and isinstance(before[0], bool) else _unused(before)
    with run.engine.no_grad():
        target.fill_(mark)
    after = list(flat(source.tolist()))
    seen = after != before
    tail = (
        f"`{x}` then shows {number(source.tolist())}" if len(after) <= 12 else f"`{x}` {'changes' if seen else 'stays'}"
    )
    return seen, f"Tried: `{through}.fill_({mark})`; {tail}."


def _unused(taken: list[Any]) -> int:
    return next(n for n in range(7, 9 + len(taken)) if n not in taken)


def _backward(run: Run, x: str, of: str, at: int | None) -> tuple[bool, str]:
    names = run.fresh(at)
    source, result = _live(names, x), _live(names, of)
    way = _way(run.snapshot(at), x, of)
    if not source.requires_grad:
        return False, f"`{x}` does not require grad, so no gradient is computed for it."
    if not result.requires_grad:
        return False, f"`{of}` does not require grad: there is no node to begin at, and `backward` raises an error."
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        source.grad = None
        if not source.is_leaf:
            source.retain_grad()
        try:
            result.sum().backward()
        except RuntimeError as error:
            reason = str(error).partition(". ")[0].partition("\n")[0]
            return False, f"Tried: `{of}.sum().backward()` raises an error: {reason}."
        arrived = quietly(source, "grad")
    if arrived is None:
        return False, f"Tried: `{of}.sum().backward()`; `{x}.grad` stays None. {way}"
    return True, f"Tried: `{of}.sum().backward()`; `{x}.grad` is then {number(arrived.tolist())}. {way}"


def _way(snapshot: Snapshot, x: str, of: str) -> str:
    """The nodes on the way from `of` to `x`, in words."""
    source, start = snapshot.tensor(x), snapshot.tensor(of).grad_fn
    goal = {node.id for node in snapshot.nodes if node.variable == source.id} | {source.grad_fn} - {None}
    if start is None:
        return f"`{of}` has no node."
    came: dict[str, str | None] = {start: None}
    waiting = [start]
    for here in waiting:
        if here in goal:
            path = [here]
            while (before := came[path[-1]]) is not None:
                path.append(before)
            names = [labels.short(snapshot.node(one).name) for one in reversed(path)]
            return f"The way of the nodes: {', '.join(names if len(names) < 9 else [*names[:4], '...', *names[-3:]])}."
        for edge in snapshot.node(here).edges:
            if edge.node is not None and edge.node not in came:
                came[edge.node] = here
                waiting.append(edge.node)
    return f"None of the nodes behind `{of}` leads to `{x}`."
