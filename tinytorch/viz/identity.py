"""Telling "the same tensor as before" without keeping it alive.

An address can be used again after its object died, so a snapshot that remembered
addresses would call a new tensor an old one. Each object looked at is therefore
given a serial number that is tied to a weak reference and forgotten with it.
"""

from __future__ import annotations

import itertools
import weakref

_serials: dict[int, tuple[weakref.ref, int]] = {}
_count = itertools.count(1)


def serial(thing: object) -> tuple[str, int]:
    """A key that is equal for two looks at one living object, and for nothing else."""
    address = id(thing)
    known = _serials.get(address)
    if known is not None and known[0]() is thing:
        return ("object", known[1])
    try:
        reference = weakref.ref(thing, lambda gone: _forget(address, gone))
    except TypeError:  # no weak references: the address is the best there is
        return ("address", address)
    number = next(_count)
    _serials[address] = (reference, number)
    return ("object", number)


def _forget(address: int, reference: weakref.ref) -> None:
    # A new object may have taken the address before this callback ran.
    known = _serials.get(address)
    if known is not None and known[0] is reference:
        del _serials[address]
