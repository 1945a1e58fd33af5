"""How often each running loop went round, and which rounds are folded: they run, and no step is made of them."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from types import FrameType

from .instrument import Site

_PAUSING = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Rounds:
    """Counts the rounds of one run's loops. After `limit` rounds (None: never) the rest of a loop is folded.

    A generator or coroutine is left in the middle of its loops and taken up again; its loops are never folded.
    """

    def __init__(self, sites: Sequence[Site], limit: int | None) -> None:
        self._sites, self._limit = sites, limit
        self._counts: dict[tuple[int, int], int] = {}
        self._home: tuple[FrameType, int] | None = None  # where a loop is folded: its frame and its site
        self._unseen = 0

    def begin(self, site: int, frame: FrameType) -> None:
        """A line begins; if it is a loop, its first round is to come."""
        if self._sites[site].loop:
            self._counts[site, id(frame)] = 0

    def turn(self, site: int, frame: FrameType) -> int:
        """A loop goes round: which round this is, from 1; 0 for what is no loop. May begin to fold."""
        if not self._sites[site].loop:
            return 0
        count = self._counts[site, id(frame)] = self._counts.get((site, id(frame)), 0) + 1
        if self._limit is not None and count > self._limit and not frame.f_code.co_flags & _PAUSING:
            self._home = (frame, site)
            self._unseen = 1
        return count

    @property
    def folded(self) -> int | None:
        """The site of the loop that is folded now."""
        return self._home[1] if self._home else None

    def at_home(self, frame: FrameType) -> bool:
        """Whether the folded loop stands in this frame itself."""
        return self._home is not None and self._home[0] is frame

    def inside(self, site: int, frame: FrameType) -> bool:
        """Whether a line runs within the folded loop, in a function that it calls for example."""
        if self._home is None:
            return False
        home, loop = self._home
        if frame is home:
            return site == loop or any(outer is self._sites[loop] for outer in self._sites[site].loops)
        at: FrameType | None = frame
        while at is not None and at is not home:
            at = at.f_back
        return at is home

    def again(self) -> None:
        """The folded loop goes round once more, unseen."""
        self._unseen += 1

    def unfold(self, *, tested: bool = False) -> None:
        """The folded loop is left. `tested`: it ended by itself, and the last test of a `while` was no round."""
        if tested and self._home is not None and self._sites[self._home[1]].loop == "while":
            self._unseen -= 1
        self._home = None

    def take(self) -> int:
        """How many rounds ran unseen since the last step."""
        unseen, self._unseen = self._unseen, 0
        return unseen
