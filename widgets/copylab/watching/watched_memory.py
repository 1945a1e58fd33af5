"""The memory of saved tensors under a watch: where it is, and checksums of its bytes."""

from __future__ import annotations

import ctypes
import zlib
from typing import Any

import numpy as np

from tinytorch.viz import engine_name

WHOLE_BYTES = 1 << 24
"""Up to this size the bytes of a tensor are compared whole; of a larger one, pieces of it."""
_PIECES, _PIECE_BYTES = 256, 1 << 14
KEPT_BYTES = 1 << 13
"""Of tensors up to this size the bytes are kept: less work than a checksum, and a finding has numbers."""
SEARCHED_BYTES = 256
"""Tensors up to this size are compared before each backward, too: see `Watch._has_small_change`."""

IS_CPU_READ_BY_ADDRESS = True
"""False where a test lets the CPU stand in for a device with memory of its own."""

Span = tuple[int, int]
"""The addresses at which a tensor's memory starts and stops."""
NO_MEMORY: Span = (0, 0)
"""That of a tensor without memory to look at."""


def do_overlap(a: Span, b: Span) -> bool:
    """Return True if two stretches of memory have an address in common."""
    return a[0] < b[1] and b[0] < a[1]


def is_read_by_address(tensor: Any) -> bool:
    """Return True if a tensor is in this computer's memory, False if on a device with its own."""
    # A GPU of tinytorch's has ordinary memory.
    return (IS_CPU_READ_BY_ADDRESS and tensor.is_cpu) or engine_name(tensor) != "torch"


def memory_span(tensor: Any) -> Span:
    """Return the addresses between which a tensor's elements are."""
    try:
        start = tensor.data_ptr()
        if not start:  # of meta tensors, which would all overlap
            return NO_MEMORY
        if tensor.is_contiguous():
            return start, start + tensor.nbytes
        last_element = 0
        for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
            last_element += (size - 1) * stride
        return start, start + (last_element + 1) * tensor.element_size()
    except (RuntimeError, NotImplementedError, AttributeError):
        # Sparse and nested tensors, and subclasses without a storage.
        return NO_MEMORY


def read_checksum(tensor: Any, span: Span) -> int | bytes | None:
    """Return a checksum of the bytes of a tensor in this computer's memory, of few the bytes themselves.

    None of a large one with gaps.
    """
    start, stop = span
    length = tensor.nbytes
    if stop - start <= length:
        # Without gaps between the elements their order does not matter.
        if length <= KEPT_BYTES:
            return ctypes.string_at(start, stop - start)
        return _checksum_memory(start, stop - start)
    if length > WHOLE_BYTES:
        return None
    # The gaps belong to other tensors: a write to them must not count.
    size = tensor.element_size()
    memory: Any = (ctypes.c_char * (stop - start)).from_address(start)
    strides = tuple(stride * size for stride in tensor.stride())
    elements = np.ndarray(tuple(tensor.shape), f"V{size}", memory, strides=strides)
    content = elements.tobytes()
    return content if length <= KEPT_BYTES else zlib.crc32(content)


def _checksum_memory(start: int, length: int) -> int:
    if length <= WHOLE_BYTES:
        return zlib.crc32((ctypes.c_char * length).from_address(start))
    checksum = 0
    for piece in range(_PIECES):
        address = start + (length - _PIECE_BYTES) * piece // (_PIECES - 1)
        checksum = zlib.crc32(ctypes.string_at(address, _PIECE_BYTES), checksum)
    return checksum
