"""The bytes of tensors on a GPU, or on another device whose memory PyTorch can read: compared there.

What is noted when a tensor is saved are one or two kernels, for whose end nothing waits; the result
stays on the device. To compare is to wait, so it is done when a node reads the tensor and around a
write to it, and never where waiting is forbidden (`can_wait_for`).

A digest is a sum of the memory's 32-bit words, each times a random odd number of 64 bits of its own.
Without those numbers it would not see that values have changed places, and with words of 64 bits not
that the signs of two have changed: the highest bit, times whatever is odd, is the highest bit. So,
as with the checksums of the CPU, two memories that differ have the same digest once in four billion.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .watched_memory import KEPT_BYTES, WHOLE_BYTES, Span

_COPIED_BYTES = 1 << 20
"""Of tensors up to this size a copy is noted: three kernels fewer than a digest."""
_MOST_COPIED = 1 << 26
"""So many bytes at a time: a training may save thousands of small tensors."""
_PIECES, _PIECE_WORDS = 256, 1 << 12
_SEED = 20
_MOST_SHAPES = 256
_NUMBERS: dict[Any, Any] = {}
"""The random numbers, by device."""
_SHAPED_NUMBERS: dict[Any, Any] = {}
"""Those for words of a shape, by device and shape: to make them anew takes as long as a kernel."""


class DeviceBytes:
    """The bytes of a tensor at a moment, noted on its device: a copy of few, of more a digest."""

    __slots__ = ("content", "copied", "size")
    all_copied = 0
    """Bytes of all copies that there are."""

    def __init__(self, content: Any, size: int, *, is_copy: bool) -> None:
        self.content = content
        self.size = size
        """Number of bytes."""
        self.copied = size if is_copy else 0
        """Number of those that were copied: all or none."""
        DeviceBytes.all_copied += self.copied

    def __del__(self) -> None:
        DeviceBytes.all_copied -= self.copied

    def matches(self, tensor: Any, span: Span) -> bool | None:
        """Wait for the device, and return True if a tensor has these bytes; None if it cannot say."""
        if tensor.device != self.content.device:
            return False
        torch = sys.modules["torch"]
        c = torch._C
        # Backward reads on the stream on which forward saved. Elsewhere it may be another one.
        if tensor.device.type != "cpu" and c._current_graph_task_id() < 0:
            torch.accelerator.synchronize(tensor.device)
        try:
            with (
                c.DisableTorchFunction(),
                c._DisableTorchDispatch(),
                c._AutoDispatchBelowAutograd(),
            ):
                words = _view_as_words(torch, tensor, span)
                if words is None:
                    return None
                if self.copied:
                    return bool(torch.equal(words, self.content))
                # One kernel fewer than `equal`.
                return not (_compute_digest(torch, words) - self.content).item()
        except RuntimeError:
            return None  # it has no memory left for the products

    def read_bytes(self) -> bytes | None:
        """Return the bytes themselves, of as few as are kept of a tensor on the CPU; else None."""
        if self.size > KEPT_BYTES or not self.copied:
            return None
        c = sys.modules["torch"]._C
        with c.DisableTorchFunction(), c._DisableTorchDispatch(), c._AutoDispatchBelowAutograd():
            return bytes(self.content.cpu().numpy().tobytes())


def make_device_bytes(tensor: Any, span: Span) -> DeviceBytes | None:
    """Make the record of the bytes of a tensor on its device; None where they cannot be read.

    As on the CPU, of more than `WHOLE_BYTES` pieces are read, and nothing if there are gaps.
    """
    torch = sys.modules["torch"]
    # A subclass answers for itself: its memory may be that of something else.
    if type(tensor).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__:
        return None
    c = torch._C
    try:
        # No mode hears of these operations, and they make no nodes.
        with c.DisableTorchFunction(), c._DisableTorchDispatch(), c._AutoDispatchBelowAutograd():
            words = _view_as_words(torch, tensor, span)
            if words is None:
                return None
            size = tensor.nbytes
            if size <= _COPIED_BYTES and DeviceBytes.all_copied < _MOST_COPIED:
                return DeviceBytes(words.clone(), size, is_copy=True)
            return DeviceBytes(_compute_digest(torch, words), size, is_copy=False)
    except (RuntimeError, NotImplementedError, TypeError):
        return None  # a device without these operations, or without the memory for them


def sample_on_device(tensor: Any, step: int) -> Any:
    """Return a copy of each `step`-th value of a tensor, on its device."""
    c = sys.modules["torch"]._C
    with c.DisableTorchFunction(), c._DisableTorchDispatch(), c._AutoDispatchBelowAutograd():
        return tensor.reshape(-1)[::step].clone()


def _view_as_words(torch: Any, tensor: Any, span: Span) -> Any:
    """Return the memory of a tensor as integers of at most 32 bits; None if it cannot be read."""
    start, stop = span
    storage, length = tensor.untyped_storage(), stop - start
    offset = start - storage.data_ptr()
    # A storage that was shrunk would grow again.
    if offset < 0 or offset + length > storage.nbytes():
        return None
    size = min(tensor.element_size(), 4)
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    if length <= tensor.nbytes:  # without gaps between the elements their order does not matter
        if length <= WHOLE_BYTES and _has_plain_words(tensor):
            return tensor.view(torch.int32)
        size = 4 if not (offset | length) % 4 else 1
        sizes, strides = (length // size,), (1,)
        if length > WHOLE_BYTES:
            offset, size = offset - offset % 4, 4
            step = (length // 4 - _PIECE_WORDS) // (_PIECES - 1)
            sizes, strides = (_PIECES, _PIECE_WORDS), (step, 1)
    elif tensor.nbytes > WHOLE_BYTES:
        return None
    else:
        words = tensor.element_size() // size
        sizes = (*tensor.shape, words)
        strides = (*(stride * words for stride in tensor.stride()), 1)
    dtype = {1: torch.uint8, 2: torch.int16, 4: torch.int32}[size]
    # `view` would refuse these dtypes and strides.
    view = torch.empty(0, dtype=dtype, device=tensor.device)
    return view.set_(storage, offset // size, sizes, strides)


def _has_plain_words(tensor: Any) -> bool:
    """Return True if each element is one word, in order, and no lazy bit makes it another value."""
    is_word = tensor.element_size() == 4 and tensor.is_contiguous()
    return is_word and not tensor.is_neg() and not tensor.is_conj()


def _compute_digest(torch: Any, words: Any) -> Any:
    """Return the digest of integers, a tensor without dimensions."""
    key = words.device, words.shape
    numbers = _SHAPED_NUMBERS.get(key)
    if numbers is None:
        if len(_SHAPED_NUMBERS) >= _MOST_SHAPES:
            _SHAPED_NUMBERS.clear()
        count = words.numel()
        numbers = _find_numbers(torch, words.device, count)[:count].view(words.shape)
        _SHAPED_NUMBERS[key] = numbers
    return (words * numbers).sum()


def _find_numbers(torch: Any, device: Any, count: int) -> Any:
    """Return at least `count` random odd numbers on a device, always the same."""
    numbers = _NUMBERS.get(device)
    if numbers is None or len(numbers) < count:
        size = max(1 << 14, 1 << (count - 1).bit_length())
        # Not PyTorch's random numbers, which are the program's.
        raw = np.random.PCG64(_SEED).random_raw(size) | 1
        _SHAPED_NUMBERS.clear()  # they keep the former numbers alive
        numbers = _NUMBERS[device] = torch.from_numpy(raw.view(np.int64)).to(device)
    return numbers
