"""What the bytes of a tensor come to, so that two looks at the same memory can be compared.

A version counter tells of the writes that were counted. Writes through `.data`, NumPy, a storage or a kernel that does
not count are told by the bytes alone: two checksums that differ are a proof that memory was written, two that agree leave
one chance in four billion that it was and nobody can tell.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from typing import Any

from ..catalogue import gettext
from .blocks import PLAIN, address_of

MOST = 1 << 30
"""So many bytes are read for one snapshot, in 0.2 to 1 s. What is beyond is not compared."""


class Checksums:
    """The checksums of one snapshot: each stretch of memory is read once, all of them together up to a limit."""

    def __init__(self) -> None:
        self._left = MOST
        self._known: dict[Any, tuple[str, int] | str] = {}

    def of(self, tensor: Any) -> tuple[str, int] | str:
        """The geometry of a tensor and the checksum of its elements, as bytes; or the reason why they were not read."""
        if type(tensor).__name__ not in PLAIN:
            return gettext("it is an object of the subclass {kind}", kind=type(tensor).__name__)
        place = address_of(tensor)
        if place not in self._known:
            try:
                self._known[place] = self._read(tensor)
            except Exception:  # noqa: BLE001 - each kind of tensor without memory refuses in its own way
                self._known[place] = gettext("it has no memory that could be read")
        return self._known[place]

    def _read(self, tensor: Any) -> tuple[str, int] | str:
        if str(tensor.device) != "cpu":
            return gettext("it is on {device}", device=str(tensor.device))
        # What was detached in place since is another thing to backward, too.
        kind = f"{tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.dtype} {tensor.is_leaf}"
        # Each cell once, forwards: where strides repeat or turn a walk around, the memory is still one stretch.
        pairs = zip(tensor.stride(), tensor.shape, strict=True)
        walk = sorted(((int(step), int(size)) for step, size in pairs if step and size != 1), reverse=True)
        sizes, steps = [size for _, size in walk], [step for step, _ in walk]
        itemsize, offset = int(tensor.element_size()), int(tensor.storage_offset())
        nbytes = math.prod(sizes) * itemsize
        if not tensor.numel():
            return kind, 0
        if nbytes > self._left:
            return gettext("together with others it is larger than the {size} MB that are compared", size=MOST >> 20)
        self._left -= nbytes
        if any(step != math.prod(sizes[k + 1 :]) for k, step in enumerate(steps)):
            tensor = tensor.detach().as_strided(sizes, steps, offset).contiguous()
            offset = 0
        storage = tensor.untyped_storage()
        start = storage.data_ptr()
        if not start or int(storage.nbytes()) < offset * itemsize + nbytes:
            return gettext("its memory was given back")
        return kind, zlib.crc32((ctypes.c_char * nbytes).from_address(start + offset * itemsize))
