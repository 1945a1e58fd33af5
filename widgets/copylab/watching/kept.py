"""One saved tensor under watch: what it held when it was saved, and who wrote to its memory since."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any

import numpy as np

from .places import Place

WHOLE = 1 << 24
"""Up to this many bytes of a tensor are compared whole; of a larger one, pieces at even distances."""
_PIECES, _PIECE = 256, 1 << 14


class Kept:
    """A tensor as a node saved it; the node holds this in its place, by a hook on saved tensors.

    tensor: what is given back to the node. output: whether it is a result of the node that saved it, `nr` which one.
    leaf: whether it was one when it was saved. made: the number of the node that was made last at that time.
    """

    __slots__ = (
        "__weakref__", "bytes", "harmless", "home", "leaf", "made", "nr", "origin", "output", "place", "span",
        "spoiled", "tensor", "told", "version", "writes",
    )  # fmt: skip

    def __init__(
        self, tensor: Any, place: Place | None, *, made: int, output: bool, leaf: bool, nr: int
    ) -> None:
        self.tensor, self.place = tensor, place
        self.made, self.output, self.leaf, self.nr = made, output, leaf, nr
        self.origin: Any = (
            None  # what can be asked for its history, where that is not the tensor held here
        )
        self.version: int = tensor._version
        self.span = where = span(tensor)
        self.bytes = checksum(tensor, where)
        self.writes: list[tuple[Place | None, tuple[int, int], int]] = []
        self.harmless = self.told = self.spoiled = False
        self.home: dict[int, Any] = {}

    def __del__(self) -> None:
        self.home.pop(id(self), None)

    def wrote(self, place: Place | None, where: tuple[int, int], *, done: bool) -> None:
        """Note a write to its storage, before it is counted. Kept are the first that spoiled it and the first counted.

        done: whether the memory has been written already.
        """
        now = self.tensor._version
        if self.writes:
            _, last, before = self.writes[-1]
            if before != now:
                return  # the last one was counted: it is to blame
            if len(self.writes) > 1 or not (self.spoiled if done else self._spoils(last)):
                self.writes.pop()
        self.writes.append((place, where, now))
        if done and len(self.writes) == 1:
            self.spoiled = self._spoils(where)

    def _spoils(self, where: tuple[int, int]) -> bool:
        """Whether a write, the only one so far, has changed its bytes."""
        if not _meet(self.span, where):
            return False
        return self.bytes is None or checksum(self.tensor, span(self.tensor)) != self.bytes

    @property
    def counted(self) -> bool:
        """Whether its version counter has counted a write since it was saved."""
        return bool(self.tensor._version != self.version)

    @property
    def detached(self) -> bool:
        """Whether an input was taken out of its graph by `detach_` since it was saved."""
        return self.tensor.is_leaf and not (self.leaf or self.output)

    @property
    def changed(self) -> bool | None:
        """Whether its bytes are others than those saved; None where they were written and cannot be compared."""
        if self.harmless:
            return False
        if self.bytes is not None:
            return checksum(self.tensor, span(self.tensor)) != self.bytes
        return None if any(_meet(self.span, where) for _, where, _ in self.writes) else False

    def writer(self) -> Place | None:
        """The line that wrote: the first that its version counter has counted; if none is, the first that met it."""
        after = [*(version for _, _, version in self.writes[1:]), self.tensor._version]
        pairs = list(zip(self.writes, after, strict=False))
        counted = [place for (place, _, before), then in pairs if then > before]
        return next(
            iter(counted or [place for place, where, _ in self.writes if _meet(self.span, where)]),
            None,
        )


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def span(tensor: Any) -> tuple[int, int]:
    """The addresses from which and up to which a tensor's elements lie; (0, 0) where it has no memory to look at."""
    try:
        start = tensor.data_ptr()
        if not start:  # of meta tensors, which would all lie at the same place
            return 0, 0
        if tensor.is_contiguous():
            return start, start + tensor.nbytes
        reach = sum(
            (size - 1) * step for size, step in zip(tensor.shape, tensor.stride(), strict=True)
        )
        return start, start + (reach + 1) * tensor.element_size()
    except (
        RuntimeError,
        NotImplementedError,
        AttributeError,
    ):  # sparse, nested, a subclass without storage
        return 0, 0


def checksum(tensor: Any, where: tuple[int, int]) -> int | None:
    """A checksum of a tensor's bytes; None for what does not lie in this computer's memory."""
    start, stop = where
    if not start or not tensor.is_cpu:
        return None
    length = tensor.nbytes
    if stop - start <= length:  # no gap between its elements: as they lie, whatever their order
        return (
            zlib.crc32(ctypes.string_at(start, stop - start))
            if length <= _PIECE
            else _sum(start, stop - start)
        )
    if length > WHOLE:
        return None
    size = tensor.element_size()
    memory: Any = (ctypes.c_char * (stop - start)).from_address(start)
    steps = tuple(step * size for step in tensor.stride())
    return zlib.crc32(np.ndarray(tuple(tensor.shape), f"V{size}", memory, strides=steps).tobytes())


def _sum(start: int, length: int) -> int:
    if length <= WHOLE:
        return zlib.crc32((ctypes.c_char * length).from_address(start))
    found = 0
    for piece in range(_PIECES):
        found = zlib.crc32(
            ctypes.string_at(start + (length - _PIECE) * piece // (_PIECES - 1), _PIECE), found
        )
    return found
