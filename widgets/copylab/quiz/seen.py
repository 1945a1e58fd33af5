"""What a check can see of a learner's variables: facts, each with a sentence for when it holds and for when not.

    def check(x, t):
        yield shows([2, 3], t=t)
        yield apart(t=t, x=x)

An answer is right if all of them hold, and what is said to it is made of these sentences: nothing is told that was not
seen. The tensors are named by their keywords.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tinytorch.viz import gettext, join_names, version_of

from ..looks import grad, is_tensor, node_of, same_storage, values
from .answers import number, same


@dataclass(frozen=True)
class Fact:
    """Whether something holds, what is said where it does not, and where it does: nothing, if all right answers do."""

    holds: bool
    no: str
    yes: str = ""

    def but(self, no: str) -> Fact:
        """Give the same fact with another sentence for the case that it does not hold."""
        return replace(self, no=no)


def tensors(**named: Any) -> Fact:
    """All of them are tensors."""
    for name, one in named.items():
        if not is_tensor(one):
            kind = type(one).__name__
            return Fact(
                False,
                gettext(
                    "{name} is of the type {kind}, and a tensor is asked for.", name=name, kind=kind
                ),
            )
    return Fact(True, "")


def _of_tensors(fact: Callable[..., Fact]) -> Callable[..., Fact]:
    """Make of a fact about tensors one that anything may be asked of: what is no tensor is said."""

    @functools.wraps(fact)
    def told(*how: Any, **named: Any) -> Fact:
        all_are = tensors(**named)
        return fact(*how, **named) if all_are.holds else all_are

    return told


def each(**one: Any) -> dict[str, Any]:
    """Name the elements of a list or dict: kept[0], best['weight']."""
    ((name, things),) = one.items()
    pairs = things.items() if isinstance(things, Mapping) else enumerate(things)
    return {f"{name}[{key!r}]": thing for key, thing in pairs}


def tensor_list(count: int, **one: Any) -> Fact:
    """A list of so many tensors."""
    ((name, things),) = one.items()
    if not isinstance(things, list | tuple):
        said = gettext(
            "{name} is of the type {kind}, and a list is asked for.",
            name=name,
            kind=type(things).__name__,
        )
        return Fact(False, said)
    if len(things) == count:
        return tensors(**each(**one))
    return Fact(
        False,
        gettext(
            "The length of {name} is {size}, and {right} is asked for.",
            name=name,
            size=len(things),
            right=count,
        ),
    )


def kept_from(**two: Any) -> Fact:
    """No element of a list looks at the cells of a tensor that was written in place several times."""
    (name, things), (source, tensor) = two.items()
    close = [which for which, one in each(**{name: things}).items() if _meet(one, tensor)]
    version = version_of(tensor) if close else 0
    no = gettext(
        "{which} looks at the cells of {source}, and {source}._version is {version}: one write overwrites the other.",
        which=close[0] if close else "",
        source=source,
        version=version,
    )
    return Fact((version or 0) < 2, no)


def shows(expected: Any, **one: Any) -> Fact:
    """A tensor, or a number, has these values, up to what four digits can tell."""
    ((name, given),) = one.items()
    got = [values(each) for each in given] if isinstance(given, list | tuple) else values(given)
    alike = _shape(got) == _shape(expected) and same(got, _floats(expected))
    return Fact(
        alike,
        gettext(
            "{name} shows {value}, and {right} is asked for.",
            name=name,
            value=number(got),
            right=number(expected),
        ),
        gettext("{name} shows {value}.", name=name, value=number(got)),
    )


@_of_tensors
def apart(**named: Any) -> Fact:
    """No two of these tensors have a cell in common."""
    close = [(a, b) for a, b in itertools.combinations(named, 2) if _meet(named[a], named[b])]
    a, b = close[0] if close else ("", "")
    no = gettext("{a} and {b} are one tensor.", a=a, b=b)
    if close and named[a] is not named[b]:
        no = gettext(
            "{a} and {b} look at the same cells: a write through one is seen in the other.",
            a=a,
            b=b,
        )
    return Fact(
        not close, no, gettext("{names} have no cell in common.", names=join_names(list(named)))
    )


def _meet(one: Any, other: Any) -> bool:
    """Whether two tensors look at the same cells; rows of one storage need not."""
    return same_storage(one, other) and not _cells(one).isdisjoint(_cells(other))


def _cells(tensor: Any) -> set[int]:
    cells = {tensor.data_ptr()}
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        cells = {cell + k * stride * tensor.element_size() for cell in cells for k in range(size)}
    return cells


@_of_tensors
def shares(**two: Any) -> Fact:
    """Two tensors, and not one tensor twice, look at one storage."""
    (a, one), (b, other) = two.items()
    said = gettext("{a} has a storage of its own: a write into it is not seen in {b}.", a=a, b=b)
    if one is other:
        said = gettext("{a} is {b} itself, under a second name.", a=a, b=b)
    yes = gettext("{a} and {b} look at the same storage.", a=a, b=b)
    return Fact(one is not other and same_storage(one, other), said, yes)


def needs_no_grad(**one: Any) -> Fact:
    """A tensor, or a number, that does not require grad."""
    ((name, tensor),) = one.items()
    node = node_of(tensor)
    no = gettext("{name} requires grad.", name=name)
    if node is not None:
        no = gettext("{name} requires grad: its node is {node}.", name=name, node=node)
    return Fact(
        not getattr(tensor, "requires_grad", False),
        no,
        gettext("{name} requires no grad.", name=name),
    )


@_of_tensors
def leaf(**one: Any) -> Fact:
    """A leaf that requires grad."""
    ((name, tensor),) = one.items()
    no = gettext("{name} requires no grad.", name=name)
    if tensor.requires_grad:
        no = gettext("{name} is not a leaf: its node is {node}.", name=name, node=node_of(tensor))
    return Fact(
        tensor.is_leaf and tensor.requires_grad,
        no,
        gettext("{name} is a leaf that requires grad.", name=name),
    )


@_of_tensors
def leads(**two: Any) -> Fact:
    """The nodes behind one tensor lead to the other, so that `backward` gets there."""
    (start, result), (goal, source) = two.items()
    no = gettext("{result} has no node that leads to {source}.", result=start, source=goal)
    if result is source:
        no = gettext("{a} is {b} itself, under a second name.", a=start, b=goal)
    elif not result.requires_grad:
        no = gettext(
            "{result} requires no grad: backward cannot get from it to {source}.",
            result=start,
            source=goal,
        )
    yes = gettext("{result} leads back to {source} through its nodes.", result=start, source=goal)
    there = any(
        node is source.grad_fn or getattr(node, "variable", None) is source
        for node in nodes(result)
    )
    return Fact(result is not source and there, no, yes)


def nodes(tensor: Any) -> Iterator[Any]:
    """Every node behind a tensor, each once, its own first."""
    waiting, met = [tensor.grad_fn], set()
    for node in waiting:
        if node is not None and id(node) not in met:
            met.add(id(node))
            waiting += [before for before, _ in node.next_functions]
            yield node


def has_grad(expected: Any, **one: Any) -> Fact:
    """A tensor's `.grad` has these values."""
    ((name, tensor),) = one.items()
    got = grad(tensor)
    yes = gettext("{name}.grad is {value}.", name=name, value=number(got))
    if got is None and not tensor.is_leaf:
        no = gettext(
            "{name}.grad is None: a result keeps its gradient only after retain_grad().", name=name
        )
        return Fact(False, no, yes)
    said = gettext(
        "{name}.grad is {value}, and {right} is asked for.",
        name=name,
        value=number(got),
        right=number(expected),
    )
    return Fact(_shape(got) == _shape(expected) and same(got, _floats(expected)), said, yes)


@_of_tensors
def written(least: int = 1, **one: Any) -> Fact:
    """A tensor's counter has counted so many writes, at the least."""
    ((name, tensor),) = one.items()
    version = version_of(tensor)
    no = gettext(
        "{name}._version is {version}, and at least {least} is asked for: "
        "a write past the counter, or into another tensor, is not counted there.",
        name=name,
        version=version,
        least=least,
    )
    return Fact(
        (version or 0) >= least,
        no,
        gettext("{name}._version is {version}.", name=name, version=version),
    )


def _shape(value: Any) -> Any:
    return [_shape(one) for one in value] if isinstance(value, list | tuple) else None


def _floats(value: Any) -> Any:
    return [_floats(one) for one in value] if isinstance(value, list | tuple) else float(value)
