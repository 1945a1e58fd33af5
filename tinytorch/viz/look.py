"""What a memory picture and its text are made from, and whether a part of them says the same as one before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import Any, Generic, TypeVar

from . import labels
from .diff import Changes, changes
from .explain import troubles
from .read.records import Counter, Snapshot, Storage, Tensor

Made = TypeVar("Made")


@dataclass(frozen=True)
class Look:
    """A snapshot, what changed in it, and what is wrong."""

    snap: Snapshot
    changes: Changes
    bad: dict[str, tuple[str, ...]]

    @classmethod
    def at(cls, snap: Snapshot, since: Snapshot | None) -> Look:
        """The look at a snapshot, since an earlier one."""
        return cls(snap, changes(snap, since), troubles(snap))

    @cached_property
    def shown(self) -> frozenset[str]:
        """The tensors that have a row with a storage."""
        return frozenset(one.id for _, members in self.snap.shown_storages for one in members)

    @cached_property
    def renamed(self) -> frozenset[str]:
        """The names, as they are shown, that are new or stand for another tensor."""
        return frozenset(map(labels.called, self.changes.rebound | self.changes.added))

    @cached_property
    def sharers(self) -> dict[str | None, list[str]]:
        """The labels of the tensors with a row that share each version counter."""
        found: dict[str | None, list[str]] = {}
        for _, members in self.snap.shown_storages:
            for one in members:
                found.setdefault(one.counter, []).append(self.snap.label(one.id))
        return found


def was(changed: Changes, counter: Counter) -> int | None:
    """The version that a counter had; None if it has not changed."""
    versions = changed.versions
    return next((versions[tid] for tid in counter.tensors if tid in versions), None) if versions else None


_TOLD = attrgetter(
    "id", "names", "shape", "stride", "offset", "dtype", "itemsize", "requires_grad", "is_leaf", "storage", "start_byte",
    "counter", "version", "grad_fn_name", "role", "notes",
)  # fmt: skip
_STORED = attrgetter("id", "nbytes", "device", "dtype", "itemsize", "cells", "objects", "notes")


def said_of(look: Look, storage: Storage, members: list[Tensor]) -> tuple[Any, ...]:
    """All that the picture and the words of a storage depend on: where it is equal, they are.

    Values count as they are written: 0.0 equals -0.0, but they are not shown alike.
    """
    changed = look.changes.cells.get(storage.id)
    values = repr((storage.runs, None if changed is None else sorted(changed.items())))
    return (_STORED(storage), values, *[_said_of_one(look, one) for one in members])


def _said_of_one(look: Look, one: Tensor) -> tuple[Any, ...]:
    snap, changed = look.snap, look.changes
    label = None if one.names else snap.label(one.id)
    renamed = None
    if look.renamed and not look.renamed.isdisjoint(map(labels.called, one.names)):
        renamed = tuple([(name in changed.rebound, name in changed.added) for name in one.names])
    base = None if one.base is None else snap.label(one.base)
    grad = None if one.grad is None else (snap.label(one.grad), one.grad in look.shown)
    counter = None
    if one.counter is not None:
        which, sharers = snap.counter(one.counter), look.sharers[one.counter]
        others = tuple(sharers) if len(sharers) > 1 else ()
        counter = (which.version, was(changed, which), others, snap.counted(one))
    news = (one.id in changed.new, changed.facts.get(one.id), look.bad.get(one.id))
    return (_TOLD(one), label, renamed, base, grad, counter, news)


class Memo(Generic[Made]):
    """What was made for a key is kept, up to a number of keys; then all is forgotten, which is seldom."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.made: dict[Any, Made] = {}

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        """What was made for the key before, else what `make` gives."""
        found = self.made.get(key)
        if found is None:
            found = make()
            if len(self.made) >= self.most:
                self.made.clear()
            self.made[key] = found
        return found
