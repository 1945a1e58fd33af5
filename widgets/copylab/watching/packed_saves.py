"""Saved tensors that hooks of the program's own pack and unpack: `save_on_cpu`, a checkpoint.

PyTorch takes what such a hook returns as what was saved: no version is compared, and a checkpoint
compares shapes alone. So a checkpointed function that reads what has changed meanwhile, or draws
other random numbers, gives a wrong gradient without an error.
"""

from __future__ import annotations

import ctypes
from functools import cache, wraps
from itertools import islice
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import numpy as np

from tinytorch.viz import getattr_or_none

from .device_bytes import sample_on_device
from .findings import CHECKPOINT
from .places import NodeLine, Place
from .scope import Replacement, find_hooks_of_thread
from .watched_memory import WHOLE_BYTES, Span, is_read_by_address, memory_span
from .watched_save import Checksum, WatchedSave, compute_checksum, has_other_bytes

if TYPE_CHECKING:
    from .on_torch import TorchHooks

_HOOKS_OF_RECOMPUTATION = "recomputation_hook"
"""A checkpoint's, in backward: what they pack was packed in forward already."""
_Saves = WeakValueDictionary[int, WatchedSave]
"""Saves by their ids, in order; an entry goes with the node that holds the save."""
_SAMPLES = 256
_TOLERANCE = 1e-3
"""A checkpoint that runs again may round otherwise (other threads, another alignment): less than
this is no change of values."""
_FLOATS = {"torch.float16": np.float16, "torch.float32": np.float32, "torch.float64": np.float64}


class PackedSave:
    """What a hook of the program's own packed, and what the tensor was. The node holds this instead."""

    __slots__ = (
        "block",
        "checksum",
        "code",
        "holds_memory",
        "is_number",
        "kind",
        "node_line",
        "packed",
        "samples",
        "span",
        "watched",
    )

    def __init__(self, packed: Any, tensor: Any, span: Span, checksum: Checksum, kind: str) -> None:
        self.packed = packed
        """What the hook returned."""
        self.span = span
        self.checksum: Checksum = checksum
        """The checksum of the tensor's bytes when it was packed."""
        self.samples = read_samples(tensor, span)
        """Some of its values; None if it has no floating point numbers."""
        self.is_number = not tensor.dim()
        """True if it had no dimensions; `viz/read/packed.py` reads it."""
        self.code: Any = None
        """Of a checkpoint: the code that it will run again; `viz/read/packed.py` reads it."""
        self.kind = kind
        """The class of hooks: "checkpoint", "save_on_cpu"."""
        self.node_line: NodeLine | None = None
        """The line that saved it."""
        self.holds_memory = False
        """True if what the hook returned is the tensor's own memory, and so no other form of it."""
        self.watched: WatchedSave | None = None
        """The `WatchedSave` of its memory, whose writes are seen; None where that may be freed before backward."""
        self.block: _Saves = WeakValueDictionary()
        """Those of all that the same block of hooks has packed."""

    @property
    def saving_place(self) -> Place | None:
        """The place of the line that saved it; None if it is not known."""
        return None if self.node_line is None else self.node_line.place

    def has_other_values(self, tensor: Any) -> bool | None:
        """Return True if the hook gave back other values; None if they cannot be compared."""
        span = memory_span(tensor)
        has_other = has_other_bytes(tensor, span, self.checksum) if span[0] else None
        if not has_other:
            return has_other
        is_as_large = span[1] - span[0] == self.span[1] - self.span[0]
        is_elsewhere = span != self.span and not (self.holds_memory and is_as_large)
        if self.kind != CHECKPOINT and is_elsewhere:
            return None  # hooks that compress give back other values on purpose
        samples, earlier = read_samples(tensor, span), self.samples
        # Without samples, as of integers and masks, which no computation rounds: other bytes are
        # other values.
        if samples is None or earlier is None or samples.shape != earlier.shape:
            return True
        samples, earlier = _copy_to_cpu(samples), _copy_to_cpu(earlier)
        # Rounding is as coarse for a value near 0 as for the largest that it was computed with.
        largest = float(np.abs(earlier).max(initial=0))
        return not np.allclose(
            samples, earlier, rtol=_TOLERANCE, atol=_TOLERANCE * largest, equal_nan=True
        )

    def find_cause(self) -> WatchedSave | None:
        """Return the `WatchedSave` of its memory, or of another one of the same block, if it was written since."""
        if self.watched is not None and self.watched.has_changed:
            return self.watched
        # A copy: another thread may pack meanwhile.
        saves = [reference() for reference in self.block.valuerefs()]
        return next((save for save in saves if save is not None and save.has_changed), None)


def read_samples(tensor: Any, span: Span) -> Any:
    """Return evenly spaced values of a tensor; None of one without floating point numbers.

    An array, or of a tensor on another device a tensor there: nothing waits for it.
    """
    dtype = _FLOATS.get(str(tensor.dtype))
    start, stop = span
    if dtype is None or not start or stop - start > 2 * WHOLE_BYTES:
        return None
    if not is_read_by_address(tensor):
        return sample_on_device(tensor, max(1, tensor.numel() // _SAMPLES))
    memory: Any = (ctypes.c_char * (stop - start)).from_address(start)
    strides = tuple(stride * tensor.element_size() for stride in tensor.stride())
    elements = np.ndarray(tuple(tensor.shape), dtype, memory, strides=strides).flat
    # Evenly spaced: what was written is mostly all of it, or a stretch.
    step = max(1, tensor.numel() // _SAMPLES)
    return np.fromiter(islice(elements, 0, None, step), np.float64)


def _copy_to_cpu(samples: Any) -> np.ndarray:
    return samples if isinstance(samples, np.ndarray) else samples.cpu().double().numpy()


@cache
def watch_packing(hooks_class: Any) -> Replacement:
    """Compare what hooks of the program's own unpack with what they were given to pack."""

    def replace(enter: Any) -> Any:
        @wraps(enter)
        def enter_watched(self: Any) -> Any:
            hooks, kind = find_hooks_of_thread(), type(self).__name__.strip("_")
            if not hooks or kind == _HOOKS_OF_RECOMPUTATION:
                return enter(self)
            # Read anew each time: a program may set other hooks on the object and enter it again.
            pack, unpack = self.pack_hook, self.unpack_hook
            # As long as the block begins, which is when PyTorch reads them: the program finds its own
            # hooks on the object.
            self.pack_hook = _wrap_pack(pack, hooks, kind.removesuffix("_hook"))
            self.unpack_hook = _wrap_unpack(unpack, hooks[-1])
            try:
                return enter(self)
            finally:
                self.pack_hook, self.unpack_hook = pack, unpack

        return enter_watched

    return Replacement(hooks_class, "__enter__", replace)


def _wrap_pack(pack: Any, watching: list[TorchHooks], kind: str) -> Any:
    """Return a hook that packs as `pack` does, and notes what the tensor was."""
    *outer, hooks = watching
    block: _Saves = WeakValueDictionary()  # a block of hooks may last for a whole training
    code = _find_code_to_repeat(pack) if kind == CHECKPOINT else None

    def pack_watched(tensor: Any) -> Any:
        for other in outer:  # as for what is saved, the innermost watch alone looks at it
            other.watch.gaps.count_unseen_save(kind)
        # First: what the hook computes is of other lines, and the node is not.
        node_line = None if hooks.watch.ended else hooks.find_saving_line()
        packed = pack(tensor)  # raises as the engine does
        span = memory_span(tensor)
        checksum = compute_checksum(tensor, span)
        # A `with watch()` may end while the program's own block goes on.
        if checksum is None or hooks.watch.ended:
            hooks.watch.gaps.count_unseen_save(kind)
            return packed
        packed_save = PackedSave(packed, tensor, span, checksum, kind)
        packed_save.node_line = node_line
        packed_save.code = code
        packed_save.holds_memory = _holds_memory(packed, span, hooks.torch.Tensor)
        if _is_of_leaf(tensor) or packed_save.holds_memory:
            # A leaf itself: `w.data = other` gives other memory to it, and to no alias.
            record = hooks.watch.record_alias if tensor.is_leaf else hooks.record_alias
            packed_save.watched = record(tensor, packed_save.node_line)
            block[id(packed_save.watched)] = packed_save.watched
        packed_save.block = block
        return packed_save

    return pack_watched


def _find_code_to_repeat(pack: Any) -> Any:
    """Return the code of the function that a checkpoint will run again; None if it shows none."""
    frame = _find_in_closure(pack, "frame")
    function = _find_in_closure(getattr_or_none(frame, "recompute_fn"), "fn")
    return getattr_or_none(function, "__code__")


def _find_in_closure(function: Any, name: str) -> Any:
    names = getattr_or_none(getattr_or_none(function, "__code__"), "co_freevars") or ()
    return function.__closure__[names.index(name)].cell_contents if name in names else None


def _is_of_leaf(tensor: Any) -> bool:
    """Return True for a parameter and a view of one: its memory outlives the graph as it is."""
    base = tensor._base if tensor._is_view() else tensor
    return bool(base is not None and base.is_leaf and base.requires_grad)


def _holds_memory(packed: Any, span: Span, tensor_class: type) -> bool:
    """Return True if what a hook packed is the tensor's memory: on the CPU, `save_on_cpu` copies nothing."""
    parts = packed if isinstance(packed, (tuple, list)) else (packed,)
    return any(isinstance(part, tensor_class) and memory_span(part) == span for part in parts)


def _wrap_unpack(unpack: Any, hooks: TorchHooks) -> Any:
    """Return a hook that unpacks as `unpack` does, and compares."""

    @wraps(unpack)  # pictures know PyTorch's own hooks by their names
    def unpack_watched(packed_save: Any) -> Any:
        backward_nr = hooks.torch._C._current_graph_task_id()
        # Outside of a backward it is the program, or a picture, that looks.
        is_in_backward = backward_nr >= 0 and not hooks.watch.ended
        if is_in_backward:
            # Before a checkpoint computes again, which makes nodes.
            hooks.note_read_by_node(backward_nr)
        # Nothing could be compared when it was packed.
        if not isinstance(packed_save, PackedSave):
            return unpack(packed_save)  # raises as the engine does
        tensor = unpack(packed_save.packed)  # raises as the engine does
        if is_in_backward:
            hooks.watch.check_unpacked(packed_save, tensor, hooks.find_node(), backward_nr)
        return tensor

    # Read by `viz/read/packed.py`, which looks at what is packed.
    unpack_watched.is_around_of_watch = True  # type: ignore[attr-defined]
    return unpack_watched
