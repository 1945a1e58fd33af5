"""The misconception that a wrong answer points to, judged by what the run really did. None where it points nowhere.

Each takes the run, the answer that was given, and what the question is about.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from .answers import same
from .answers import value as read
from .runs import Run


def either(yes: str, no: str) -> Callable[..., str]:
    """One misconception behind a wrong yes, another behind a wrong no, whatever the run did."""
    return lambda _run, given, *_, **__: yes if given == "yes" else no


def memory(run: Run, given: str, a: str, b: str, *, at: int | None) -> str | None:
    """Who believes that two tensors share memory, or that they do not, and is wrong."""
    if given == "no":
        return _kinship(run, a, b, at)
    linked = any(run.tensor(name, at).grad_fn is not None for name in (a, b))
    return (
        "the graph joins memories" if linked and not _copied(run, b, at) else "a copy shares memory"
    )


def _kinship(run: Run, a: str, b: str, at: int | None) -> str:
    one, other = run.tensor(a, at), run.tensor(b, at)
    if one.id == other.id:
        return "a name is a copy"
    if one.counter != other.counter:
        return "another tensor, another memory"
    return "a view is a copy" if one.requires_grad == other.requires_grad else "detach copies"


def counter(run: Run, given: str, a: str, b: str, *, at: int | None) -> str | None:
    """Who believes that two tensors share a version counter, or that they do not, and is wrong."""
    one, other = run.tensor(a, at), run.tensor(b, at)
    if given == "yes":
        return (
            "shared memory, shared counter"
            if one.storage == other.storage
            else "a copy shares memory"
        )
    if one.id == other.id:
        return "a name is a copy"
    return (
        "a counter for each tensor"
        if one.requires_grad == other.requires_grad
        else "detach has its own counter"
    )


def node(run: Run, given: str, y: str, *, at: int | None) -> str | None:
    """Who believes that a tensor has a node, or that it has none, and is wrong."""
    if given == "yes":
        return "a plain copy has a node"
    return "clone cuts the graph" if _copied(run, y, at) else "grad is not inherited"


def leaf(run: Run, given: str, y: str, *, at: int | None) -> str | None:
    """Who believes that a tensor is a leaf, or that it is none, and is wrong."""
    if given == "yes":
        return "a clone is a leaf" if _copied(run, y, at) else "grad is not inherited"
    return "a plain copy has a node"


def arrival(run: Run, given: str, x: str, of: str, *, at: int | None) -> str | None:
    """Who believes that a gradient gets from one tensor to another, or that it does not, and is wrong."""
    if given == "no":
        return "clone cuts the graph" if _copied(run, of, at) else None
    source, result = run.tensor(x, at), run.tensor(of, at)
    if source.storage != result.storage:
        return None
    return "detach keeps the graph" if source.counter == result.counter else "memory joins graphs"


def version(run: Run, given: str, x: str, *, at: int | None) -> str | None:
    """Who believes in another version of a tensor."""
    guess, tensor = read(given), run.tensor(x, at)
    if not isinstance(guess, int) or tensor.version is None or tensor.counter is None:
        return None
    if guess > tensor.version:
        return "backward changes its leaf" if tensor.grad is not None else "computing is writing"
    shared = len(run.snapshot(at).counter(tensor.counter).tensors) > 1
    return "a counter for each tensor" if shared else None


def value(run: Run, given: str, x: str, *, at: int | None) -> str | None:
    """Who believes in other numbers: those from before a write, or those of a tensor elsewhere."""
    moment = run.at(at)
    if x not in {name for name, _ in moment.snapshot.names}:
        return None

    def told(name: str) -> list[Any]:
        return [was for *_, was in run.history(lambda seen: seen.values[name], at)]

    past = [was for was in told(x) if was != moment.values[x]]
    tensor = moment.snapshot.tensor(x)
    others = [moment.snapshot.tensor(name) for name, _ in moment.snapshot.names if name != x]
    if any(same(given, was) for was in past):
        kin = [name for t in others if t.storage == tensor.storage for name in t.names if name != x]
        return _kinship(run, kin[0], x, at) if kin else None
    apart = [name for t in others if t.storage != tensor.storage for name in t.names]
    if any(
        same(given, moment.values.get(name)) and moment.values[x] in told(name) for name in apart
    ):
        return "a copy shares memory"
    return None


def gradient(run: Run, given: str, x: str, *, at: int | None) -> str | None:
    """Who believes in another gradient: too early, at the wrong tensor, or put over the one that was there."""
    right, tensor = run.gradient(x, at), run.tensor(x, at)
    guess = read(given)
    if right is None:
        if guess is None or not tensor.requires_grad:
            return None
        if not tensor.is_leaf:
            return "the copy has the gradient"
        return "the graph has the gradient" if not run.at(at).grads else None
    if guess is None:
        return None if tensor.is_leaf else "a result never has a grad"
    told = [was for *_, was in run.history(lambda seen: seen.grads[x], at)]
    steps = [_minus(now, was) for was, now in pairwise(told)]
    return "backward overwrites" if any(same(given, step) for step in steps) else None


def _minus(now: Any, was: Any) -> Any:
    if isinstance(now, list):
        return [_minus(one, other) for one, other in zip(now, was, strict=False)]
    return now - was


def _copied(run: Run, y: str, at: int | None) -> bool:
    """Whether `y` was made by clone; a write in place gives it another node later, so its past is looked at too."""
    return any(
        name == "CloneBackward0"
        for *_, name in run.history(lambda seen: seen.snapshot.tensor(y).grad_fn_name, at)
    )
