"""What a watch knows of something that a node keeps: these are what `read` takes from a watch.

A watch belongs to copylab, which is above this room. So the interface is declared here, and copylab
implements it: in `WatchedSave` and `KeptComparison`.
"""

from typing import Any, Protocol

from ..wording import Phrase


class SaveComparison(Protocol):
    """What was kept, compared with what it is now: of a saved tensor, or of what a Function keeps on `ctx`.

    What both can tell is declared here. A saved tensor alone has a version and a place in the
    graph: what follows from these is declared in `SaveUnderWatch`.
    """

    @property
    def has_changed(self) -> bool | None:
        """True if its bytes are others than at the save; None if they cannot be compared."""

    @property
    def is_compared_whole(self) -> bool:
        """True if all of its bytes are compared; False if pieces of them are, or none."""

    @property
    def line_to_blame(self) -> Phrase | None:
        """The line to blame for the write ("train.py, line 12"); None if it is not known."""


class SaveUnderWatch(SaveComparison, Protocol):
    """What a node holds in place of a tensor that it saved under a watch, a `WatchedSave`."""

    tensor: Any
    """The tensor that was saved, or a detached alias of it."""
    required_grad: bool
    """True if it required grad when it was saved."""

    @property
    def is_stale(self) -> bool:
        """True if its version counter has counted a write since the save."""

    @property
    def was_detached(self) -> bool:
        """True if `detach_` took it out of its graph since the save."""
