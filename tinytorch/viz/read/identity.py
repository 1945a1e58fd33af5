"""Which objects of two looks are one object, found without keeping them alive.

`id()` is not enough: a new object may get the address of one that is gone. A weak reference tells
them apart, but `torch.utils.swap_tensors` refuses tensors that have one, and with it `module.to()`
and `load_state_dict` in their swapping mode. So a weak reference lasts only as long as a snapshot
that may be compared with a later one; see `Snapshot.without_identities`.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class ObjectIdentity:
    """The number of one object, and the weak reference by which it is recognised."""

    __slots__ = ("__weakref__", "number", "reference", "twin")

    def __init__(self, thing: object) -> None:
        self.reference = weakref.ref(thing)
        self.number = next(_NUMBERS)
        self.twin = (-1, -1)
        """Version and number, see `number_of_twin`."""

    def __reduce__(self) -> tuple[type, tuple[int]]:
        # A snapshot that was stored or copied is compared with nothing that lives.
        return int, (self.number,)


_NUMBERS = itertools.count(1)
# Weakly: the addresses of what is gone would fill it, and could be those of other objects.
_IDENTITIES: weakref.WeakValueDictionary[int, ObjectIdentity] = weakref.WeakValueDictionary()
"""By the address of the object. What no snapshot holds any more goes out of here by itself."""
_LOCK = threading.RLock()
_HELD: ContextVar[dict[int, ObjectIdentity] | None] = ContextVar("held", default=None)


@contextmanager
def hold_identities() -> Iterator[dict[int, ObjectIdentity]]:
    """Hold what `identity_key` finds meanwhile: equal keys mean one object as long as it is held."""
    identities: dict[int, ObjectIdentity] = {}
    # In the context, as two threads may take snapshots at once.
    token = _HELD.set(identities)
    try:
        yield identities
    finally:
        _HELD.reset(token)


def identity_key(thing: object) -> tuple[str, int]:
    """Return a key that is equal for two looks at one living object, and for nothing else.

    For as long as what `hold_identities` gave is kept.
    """
    try:
        return ("object", _identity_of(thing).number)
    except TypeError:
        # No weak references: the address is the best there is.
        return ("address", id(thing))


def number_of_twin(view: object, version: int, number: int) -> int:
    """Return the number of the first node that stood for the history of a view at this version.

    Each look makes another node, which has another number.
    """
    identity = _identity_of(view)
    if identity.twin[0] != version:
        identity.twin = (version, number)
    return identity.twin[1]


def _identity_of(thing: object) -> ObjectIdentity:
    address = id(thing)
    with _LOCK:  # or two threads that look at one object would give it two numbers
        identity = _IDENTITIES.get(address)
        if identity is None or identity.reference() is not thing:
            identity = _IDENTITIES[address] = ObjectIdentity(thing)
    identities = _HELD.get()
    if identities is not None:
        identities[identity.number] = identity
    return identity
