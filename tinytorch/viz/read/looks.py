"""Which threads look at a graph now, so that a watch takes nothing that they read for the program's."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

THREADS_IN_LOOK: set[int] = set()
"""A watch does not count what is read in these: a hook of a backward may well ask for a picture."""


@contextmanager
def mark_look() -> Iterator[None]:
    """Let watches know that this thread reads and computes for a look, until the block ends."""
    thread = threading.get_ident()
    # A look within a look ends first, and the outer one goes on.
    is_outermost = thread not in THREADS_IN_LOOK
    THREADS_IN_LOOK.add(thread)
    try:
        yield
    finally:
        if is_outermost:
            THREADS_IN_LOOK.discard(thread)
