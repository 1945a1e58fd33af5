"""A tensor of the user's that a widget looks at: never changed, not kept alive, and asked whether it is as it was."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from tinytorch.viz import disable_overrides, gettext, version_of

from ..copying import Source
from ..run import describe_error


class Yours:
    """Remembers what a tensor looked like. `source` is its stand-in."""

    def __init__(self, tensor: Any) -> None:
        self._tensor = _weak(tensor)
        self.source = Source.of(tensor)
        self._seen = _fingerprint(tensor)

    @property
    def news(self) -> str:
        """What there is to say: that it is gone, that it has changed, or nothing."""
        tensor = self._tensor()
        if tensor is None:
            return gettext("Your tensor is gone; what was read off it is still here.")
        if _fingerprint(tensor) == self._seen:
            return ""
        return gettext(
            "Your tensor has changed since it was looked at. What is shown is as it was then: press Take x anew, "
            "or call take_anew(), to look again."
        )

    def anew(self) -> Source | None:
        """Look at it again; None if it is gone. Raises what `Source.of` raises."""
        tensor = self._tensor()
        if tensor is not None:
            self.source, self._seen = Source.of(tensor), _fingerprint(tensor)
        return None if tensor is None else self.source


def _weak(thing: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(thing)
    except TypeError:  # a kind of tensor that has none: not kept either
        return lambda: None


def _fingerprint(tensor: Any) -> str:
    """What changes when somebody changes the tensor: its counter, its shape, and the values if they are few."""
    try:
        with disable_overrides():
            # As text: NaN is unlike itself.
            return repr((version_of(tensor), tuple(tensor.shape), astuple(Source.of(tensor))))
    except (
        TypeError,
        ValueError,
        RuntimeError,
    ) as error:  # it was, and is no longer one that can be read
        return describe_error(error)
