"""Which tensors share one version counter.

torch has no question for that. It can be found all the same: give every tensor's
counter a number of its own, look which number each tensor has in the end (the
tensors of one counter all show the number written last), then put the old numbers
back. No view's grad_fn is read in between, so torch has no occasion to rebuild
one. `torch._C._autograd._unsafe_set_version_counter` is what torch itself uses to
restore versions; engines or versions without it get the answer "not known".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any


def version_of(tensor: Any) -> int | None:
    """The tensor's version; None for inference tensors, which have no counter."""
    try:
        return int(tensor._version)
    except (RuntimeError, AttributeError):
        return None


def sharing(tensors: Sequence[Any], engine: Any) -> list[int] | None:
    """For each tensor the index of the first one with the same counter; None if not known.

    Every tensor must have a counter. All versions are as before when it returns.
    """
    if len(tensors) < 2:
        return list(range(len(tensors)))
    write = _writer(engine)
    if write is None:
        return None
    before = [version_of(tensor) for tensor in tensors]
    try:
        write(tensors, range(len(tensors)))
        shown = [version_of(tensor) for tensor in tensors]
    except (RuntimeError, TypeError, AttributeError):
        shown = None
    finally:
        if [version_of(tensor) for tensor in tensors] != before:
            write(tensors, before)
    if shown is None:
        return None
    first: dict[int | None, int] = {}
    return [first.setdefault(number, index) for index, number in enumerate(shown)]


@contextmanager
def rewound(tensor: Any, engine: Any, version: int) -> Iterator[bool]:
    """Inside, the tensor's counter shows `version`; yields False where that cannot be done."""
    write = _writer(engine)
    before = version_of(tensor)
    if write is None or before is None:
        yield False
        return
    try:
        write((tensor,), (version,))
        yield True
    finally:
        write((tensor,), (before,))


def _writer(engine: Any) -> Callable[[Sequence[Any], Sequence[Any]], None] | None:
    found = engine
    for part in ("_C", "_autograd", "_unsafe_set_version_counter"):
        found = getattr(found, part, None)
        if found is None:
            return None

    def write(tensors: Sequence[Any], versions: Sequence[Any]) -> None:
        try:
            found(tuple(tensors), tuple(versions))
        except TypeError:  # older versions take one tensor at a time
            for tensor, version in zip(tensors, versions, strict=True):
                found(tensor, version)

    return write
