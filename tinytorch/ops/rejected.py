"""Calls of what torch writes in Python over a parsed function: what the parser says of them is what the reader sees."""

from __future__ import annotations

import functools
from typing import Any

from ..naming import type_name
from ..tensor import Tensor
from .arguments import MisfitError, mismatch, signatures_of
from .arguments import _Signature as Signature


@functools.cache
def _read(name: str, lines: tuple[str, ...]) -> tuple[Signature, ...]:
    return tuple(map(Signature, lines)) if lines else signatures_of(name)


def check_call(name: str, *args: object, lines: tuple[str, ...] = ()) -> None:
    """Raise torch's TypeError if these arguments fit no way to call the function `name`, by its `lines` if given."""
    found = _read(name, lines)
    for s in found:
        try:
            given = s.match(args, {})
        except MisfitError:
            continue
        s.unpack(*given)
        return
    raise mismatch(name, found, args, {})


def all_tensors(given: Any) -> tuple[Tensor, ...]:
    """What was given, as a tuple. TypeError, in torch's words, for what is no tensor."""
    for i, t in enumerate(given):
        if not isinstance(t, Tensor):
            raise TypeError(f"expected Tensor as element {i} in argument 0, but got {type_name(t)}")
    return tuple(given)
