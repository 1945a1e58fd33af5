"""Memory that is used again, and the search for memory that can be.

How much freed memory glibc keeps for the next large arrays; when no garbage is looked for.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import os
from collections.abc import Iterator

import numpy as np

LARGE = 1 << 16
"""Bytes from which an array is worth the effort: glibc's first limits are twice that."""

_BLOCK = 16 << 20


@functools.cache
def keep_freed_memory() -> None:
    """Let glibc keep up to 32 MB of freed memory, once in a process.

    The environment variable TINYTORCH_KEEP_MEMORY=0 leaves it out. Other C libraries are left as
    they are.
    """
    if os.environ.get("TINYTORCH_KEEP_MEMORY") == "0" or not _is_glibc():
        return
    # free() gives memory back to the system when more of it is on top of the heap than twice the
    # largest block that was ever freed. After blocks of 4 MB that is 8 MB, less than one step frees
    # on vectors of a million: each step then faults 2,900 pages in anew, and takes four to six
    # times as long. After one block of 16 MB it is 32 MB. Nobody writes to the block, so that it
    # takes addresses and no memory.
    with contextlib.suppress(MemoryError):  # under a limit of addresses: all goes on as before
        np.empty(_BLOCK, np.uint8)


def _is_glibc() -> bool:
    """Return True if the C library is glibc.

    musl and macOS have no such limit, and WebAssembly would keep the block for good.
    """
    try:
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):  # Windows; macOS; musl
        return False


@contextlib.contextmanager
def pause_collection() -> Iterator[None]:
    """Look for no garbage inside of the block, nor right after it among what was made there."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                # Together they make all objects old ones, which are searched the most rarely.
                gc.freeze()
                gc.unfreeze()
            gc.enable()
