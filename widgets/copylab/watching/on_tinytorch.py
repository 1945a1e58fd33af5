"""What tinytorch tells a watch: what is saved, by a hook on saved tensors; what is written, as versions count it."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch.autograd.modes import MODES, WRITES
from tinytorch.autograd.saved import DETACHED, saved_tensors_hooks, stale

from .kept import Kept

if TYPE_CHECKING:
    from .observer import Watch


class TinyTorch:
    """tinytorch under a watch: what is saved in the thread in which it was begun, and what any thread writes."""

    def __init__(self, watch: Watch, tinytorch: Any) -> None:
        self.watch, self.tinytorch = watch, tinytorch

    @contextmanager
    def attached(self) -> Iterator[None]:
        """Inside, the watch is told."""
        with saved_tensors_hooks(self.pack, self.unpack):
            WRITES.append(self.wrote)
            try:
                yield
            finally:
                WRITES.remove(self.wrote)

    def wrote(self, tensor: Any) -> None:
        """Called with each tensor that was written, before its version says so."""
        self.watch.wrote(tensor, done=True)

    def pack(self, tensor: Any) -> Kept:
        """Called with each tensor that a node saves; what is returned stands in its place."""
        nr = MODES.here.packing._nr
        held = tensor if nr is None else tensor.detach()  # a node that held its own result would have to be collected
        if nr is not None and tensor._is_view():
            held.source = weakref.ref(tensor.grad_fn)  # which a write to the view itself replaces
        return self.watch.keep(held, made=-1, output=nr is not None, leaf=tensor.is_leaf, nr=nr)

    def unpack(self, kept: Kept) -> Any:
        """Called when a node reads what it saved."""
        node, tensor = MODES.here.node, kept.tensor
        if kept.detached:
            raise RuntimeError(DETACHED)
        if kept.counted:
            error = RuntimeError(stale(getattr(node, "fn", node), tensor, kept.version, tensor._version, kept.nr))
            if node is not None:
                self.watch.raises(kept, node.name(), error)
            raise error
        if node is not None:
            self.watch.check(kept, lambda: node)
        return tensor

    unpack.changes_nothing = True  # type: ignore[attr-defined]
