"""A tensor of the user's that a CopyLab copies: never changed, and not kept alive."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import astuple
from typing import Any

from tinytorch.viz import disable_overrides, version_of

from ..copying import Source
from ..run import describe_error
from ..wording import gettext


class UsersTensor:
    """Remembers how a tensor looked when it was read. `source` is its stand-in."""

    def __init__(self, tensor: Any) -> None:
        self._find_tensor: Callable[[], Any] | None = _refer_weakly(tensor)
        self.source = Source.of(tensor)
        self._fingerprint = _take_fingerprint(tensor)

    def forget(self) -> None:
        """Let go of the tensor, and notice no change of it from now on.

        `torch.utils.swap_tensors`, and with it `module.to()` in its swapping mode, refuses a tensor
        that has a weak reference.
        """
        self._find_tensor = None

    def describe_change(self) -> str:
        """Say that the tensor is gone or has changed since it was read; empty if neither is so."""
        if self._find_tensor is None:
            return ""
        tensor = self._find_tensor()
        if tensor is None:
            return gettext("Your tensor is gone; what was read off it is still here.")
        if _take_fingerprint(tensor) == self._fingerprint:
            return ""
        return gettext(
            "Your tensor has changed since it was looked at. What is shown is as it was then: "
            "press Take x anew, or call take_anew(), to look again."
        )

    def read_again(self) -> Source | None:
        """Read the tensor as it is now. Return None if it is gone or forgotten.

        Raises what `Source.of` raises.
        """
        tensor = None if self._find_tensor is None else self._find_tensor()
        if tensor is None:
            return None
        self.source = Source.of(tensor)
        self._fingerprint = _take_fingerprint(tensor)
        return self.source


def _refer_weakly(tensor: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(tensor)
    except TypeError:
        # A class without `__weakref__`: its tensor counts as gone, rather than being kept alive.
        return lambda: None


def _take_fingerprint(tensor: Any) -> str:
    """Return a text that differs after a change of the tensor.

    It consists of the version counter, the shape, and what `Source.of` reads: the values, if they
    are few. A write past the counter into a long tensor is not noticed.
    """
    try:
        with disable_overrides():
            # A text, because NaN does not equal itself: each look would call it a change.
            # By its fields: the repr of a Source is one line, in which `x.data.mul_(3)` went
            # unnoticed.
            return repr((version_of(tensor), tuple(tensor.shape), astuple(Source.of(tensor))))
    except (TypeError, ValueError, RuntimeError) as error:
        # It could be read when the lab was made: since then its storage was made smaller, say.
        return describe_error(error)
