"""Memory for large arrays, kept for a while after it came free and handed out again.

The C library gives large freed blocks back to the system, and each new one then costs a page fault for every 4 KB: for
a million floats more time than the arithmetic itself. Here a block goes back to the system when no block has come free
for `IDLE_SECONDS`, or when more than `MOST_BYTES` are kept.

A block is handed out under an array, its owner. Whatever looks at the memory (views, NumPy arrays and memoryviews in
the user's hands, arrays of other libraries) holds the owner by a reference. When the owner dies, and not before, the
block is free.
"""

from __future__ import annotations

import math
import sys
import threading
import time
import weakref
from typing import Any

import numpy as np

LARGE = 1 << 17  # bytes; smaller arrays are left to NumPy
MOST_BYTES = 1 << 28  # kept at most, all free blocks together
IDLE_SECONDS = 2.0
_HUGE_PAGE = 1 << 21


class _Block:
    """A piece of memory: `size` bytes from `start` in `memory`. It goes back to the system when nobody refers to it."""

    __slots__ = ("memory", "size", "start")

    def __init__(self, size: int) -> None:
        import mmap  # of no use before the first large array

        huge = size >= _HUGE_PAGE and hasattr(mmap, "MADV_HUGEPAGE")
        room = size + _HUGE_PAGE if huge else size
        # an mmap, since views of a view refer to the first array before what is no array: to the owner
        private = {} if sys.platform == "win32" else {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
        self.memory = mmap.mmap(-1, room, **private)
        self.size, self.start = size, 0
        if huge:
            self.start = -np.frombuffer(self.memory, np.uint8).__array_interface__["data"][0] % _HUGE_PAGE
            self.memory.madvise(mmap.MADV_HUGEPAGE)


class _Lease(weakref.ref):
    """Notices the death of an owner, whose memory is `block`."""

    __slots__ = ("block",)


class _Free:
    """The free blocks by size; the size that came free last stands last."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.blocks: dict[int, list[_Block]] = {}
        self.bytes = 0
        self.last = 0.0
        self.watch: threading.Thread | None = None

    # Who does not get the lock at once does without: arrays may also die, in this very thread, while it is held.

    def take(self, size: int) -> _Block:
        """The block of this size that came free last, else a new one. OSError if the system has none."""
        if self.lock.acquire(blocking=False):
            try:
                blocks = self.blocks.get(size)
                if blocks:
                    self.bytes -= size
                    return blocks.pop()
            finally:
                self.lock.release()
        return _Block(size)

    def put(self, block: _Block) -> None:
        """Keep a block that came free; what has lain there longest goes if it gets too much."""
        if block.size > MOST_BYTES or not self.lock.acquire(blocking=False):
            return
        try:
            blocks = self.blocks.pop(block.size, [])
            blocks.append(block)
            self.blocks[block.size] = blocks
            self.bytes += block.size
            self.last = time.monotonic()
            while self.bytes > MOST_BYTES:
                size, blocks = next(iter(self.blocks.items()))
                if blocks:
                    self.bytes -= blocks.pop(0).size
                if not blocks:
                    del self.blocks[size]
            if self.watch is None or not self.watch.is_alive():  # not alive: in the child of a fork
                self._start_watch()
        finally:
            self.lock.release()

    def _start_watch(self) -> None:
        self.watch = threading.Thread(target=self._watch, name="tinytorch-idle-memory", daemon=True)
        try:
            self.watch.start()
        except RuntimeError:  # where there are no threads, nothing is kept
            self.watch, self.blocks, self.bytes = None, {}, 0

    def _watch(self) -> None:
        while True:
            time.sleep(IDLE_SECONDS)
            with self.lock:
                if time.monotonic() - self.last < IDLE_SECONDS:
                    continue
                gone, self.blocks, self.bytes, self.watch = self.blocks, {}, 0, None
            gone.clear()  # without the lock: it takes the system a while
            return


_FREE = _Free()
_leases: dict[int, _Lease] = {}


def _owner_died(lease: _Lease, ending: Any = sys.is_finalizing) -> None:
    if not ending():
        del _leases[id(lease)]
        _FREE.put(lease.block)


def empty(shape: tuple[int, ...], kind: np.dtype) -> np.ndarray:
    """An array with memory of its own, row-major, not initialised."""
    nbytes = math.prod(shape) * kind.itemsize
    if nbytes < LARGE:
        return np.empty(shape, kind)
    step = 1 << (nbytes.bit_length() - 4)  # sizes in steps of an eighth or less, so that similar ones share blocks
    try:
        block = _FREE.take((nbytes + step - 1) // step * step)
    except OSError:
        return np.empty(shape, kind)  # which says how much could not be had
    owner = np.ndarray(shape, kind, block.memory, block.start)
    lease = _Lease(owner, _owner_died)
    lease.block = block
    _leases[id(lease)] = lease
    return owner


def kept_bytes() -> int:
    """How many bytes lie free here at the moment."""
    return _FREE.bytes


def forget() -> None:
    """Give all free blocks back to the system now."""
    with _FREE.lock:
        gone, _FREE.blocks, _FREE.bytes = _FREE.blocks, {}, 0
    gone.clear()
