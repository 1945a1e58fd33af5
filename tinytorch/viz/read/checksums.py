"""Checksums of the bytes of saved tensors, which two snapshots compare.

A version counter knows of the writes that were counted; writes through `.data`, NumPy or a storage
change the bytes alone. Two checksums that differ prove that memory was written; two that agree
leave one chance in four billion that it was. A copy of the bytes would need as much memory as the
graph.
"""

from __future__ import annotations

import ctypes
import math
import zlib
from typing import Any

from ..wording import Phrase, gettext_noop
from .blocks import PLAIN_CLASSES, detach_memory
from .probe import can_wait_for, grad_fn_or_none

MAX_BYTES = 1 << 30
"""Bytes that are compared for one snapshot, in 0.2 to 1 s. Tensors beyond are not compared."""


class Checksums:
    """The checksums of one snapshot: each stretch of memory is read once, `MAX_BYTES` in all."""

    def __init__(self) -> None:
        self._bytes_left = MAX_BYTES
        self._checksum_by_view: dict[Any, tuple[str, int] | Phrase] = {}
        """By address and geometry: what is said of the bytes there, whoever sees them."""

    def find_checksum(self, tensor: Any, view_key: Any) -> tuple[str, int] | Phrase:
        """Return the geometry of a tensor and the checksum of its bytes, or why there is none.

        view_key: its `view_key_of`.
        """
        # A subclass answers for itself: its data_ptr may be that of something else.
        if type(tensor).__name__ not in PLAIN_CLASSES:
            return Phrase.of(
                gettext_noop("it is an object of the subclass {kind}"), kind=type(tensor).__name__
            )
        # Several nodes save one weight, and each look at it would read all of its bytes.
        if view_key not in self._checksum_by_view:
            try:
                self._checksum_by_view[view_key] = self._read_checksum(tensor)
            except Exception:  # noqa: BLE001 - without memory, each kind raises another
                self._checksum_by_view[view_key] = Phrase.of(
                    gettext_noop("it has no memory that could be read")
                )
        checksum = self._checksum_by_view[view_key]
        if isinstance(checksum, Phrase):
            return checksum
        # A tensor that was detached in place is another one to backward, with the same bytes; an
        # alias of it that was saved, too, is none.
        return f"{checksum[0]} {grad_fn_or_none(tensor) is None}", checksum[1]

    def _read_checksum(self, tensor: Any) -> tuple[str, int] | Phrase:
        device = str(tensor.device)
        if device == "meta":
            return Phrase.of(gettext_noop("it is on {device}"), device=device)
        if not can_wait_for(tensor):
            return Phrase.of(
                gettext_noop("it is on {device}, which must not be waited for now"), device=device
            )
        geometry = f"{tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.dtype}"
        # It has no bytes to read, and may have no address.
        if not tensor.numel():
            return geometry, 0
        strides, sizes = _list_axes(tensor)
        itemsize, offset = int(tensor.element_size()), int(tensor.storage_offset())
        nbytes = math.prod(sizes) * itemsize
        if nbytes > self._bytes_left:
            return Phrase.of(
                gettext_noop(
                    "together with others it is larger than the {size} MB that are compared"
                ),
                size=MAX_BYTES >> 20,
            )
        self._bytes_left -= nbytes
        if not _has_memory(tensor, offset * itemsize + nbytes):
            return Phrase.of(gettext_noop("its memory was given back"))
        if not _is_one_stretch(strides, sizes) or device != "cpu":
            tensor = detach_memory(tensor).as_strided(sizes, strides, offset).contiguous().cpu()
            # the copy has a storage of its own, and begins elsewhere in it
            offset = int(tensor.storage_offset())
        start = tensor.untyped_storage().data_ptr()
        stretch = (ctypes.c_char * nbytes).from_address(start + offset * itemsize)
        return geometry, zlib.crc32(stretch)


def _has_memory(tensor: Any, nbytes: int) -> bool:
    """Return False where `resize_(0)` has freed what the sizes still claim: reading would crash."""
    storage = tensor.untyped_storage()
    return bool(storage.data_ptr()) and int(storage.nbytes()) >= nbytes


def _list_axes(tensor: Any) -> tuple[list[int], list[int]]:
    """Return strides and sizes in which each cell is read once, forwards.

    Expanded or transposed, a tensor is often one stretch of memory.
    """
    if tensor.is_contiguous():
        return [1], [int(tensor.numel())]
    pairs = zip(tensor.stride(), tensor.shape, strict=True)
    axes = [(int(stride), int(size)) for stride, size in pairs if stride and size != 1]
    strides, sizes = [], []
    for stride, size in sorted(axes, reverse=True):
        strides.append(stride)
        sizes.append(size)
    return strides, sizes


def _is_one_stretch(strides: list[int], sizes: list[int]) -> bool:
    return all(stride == math.prod(sizes[k + 1 :]) for k, stride in enumerate(strides))
