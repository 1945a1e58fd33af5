"""Functions, methods and parts of operations that are made when a program first names them.

An import declares 400 operations, of which a program calls few. What calls need takes longer to make
than to declare; so it is made for whoever asks first.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

_Made = TypeVar("_Made")

# Threads that ask at the same time get the same: the classes of nodes of two products are one. There
# is one lock, as what is made asks for other parts in turn.
_LOCK = threading.RLock()
# A process that is forked while another thread makes something would wait for that thread for ever.
if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(
        before=_LOCK.acquire, after_in_parent=_LOCK.release, after_in_child=_LOCK.release
    )


class made_once(functools.cached_property[_Made]):
    """A cached property, which threads make once: those of Python 3.12 may do it twice."""

    if not TYPE_CHECKING:  # its types are those of a cached property

        def __get__(self, instance: Any, cls: type | None = None) -> Any:
            """Make it; from then on the attribute is in the instance, and nobody comes here."""
            with _LOCK:
                return super().__get__(instance, cls)


class LaterFunction:
    """Stands for a function that is made when it is first asked for."""

    def __init__(self, make: Callable[[], Callable]) -> None:
        self.make = make

    @made_once
    def function(self) -> Callable:
        """The function itself."""
        return self.make()


class LaterMethod(LaterFunction):
    """Stands on a class for a method until that is first named, makes it, and gives it its place."""

    def __init__(self, owner: type, name: str, make: Callable[[], Callable]) -> None:
        # Not by `super`: an import makes 400 of these.
        self.make, self.owner, self.name = make, owner, name

    def __get__(self, instance: Any, cls: type | None = None) -> Any:
        method: Any = self.function
        # Whoever has put something else there wants that.
        if vars(self.owner).get(self.name) is self:
            setattr(self.owner, self.name, method)
        return method.__get__(instance, cls)


__all__ = ["LaterFunction", "LaterMethod", "made_once"]
