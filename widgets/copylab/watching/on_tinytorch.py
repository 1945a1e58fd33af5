"""What tinytorch tells a watch: what is saved, by a hook on saved tensors; what is written, as versions count it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from tinytorch.graph import (
    DETACHED_MESSAGE,
    MODES,
    WRITE_LISTENERS,
    describe_stale,
    set_saved_tensor_hooks,
)

from .kept import Kept

if TYPE_CHECKING:
    from .observer import Watch


class TinyTorch:
    """tinytorch under a watch: what is saved in the thread in which it is attached, and what any thread writes."""

    def __init__(self, watch: Watch, _: Any) -> None:
        self.watch = watch
        self.hooks: Any = (self.pack, self.unpack)

    def attach(self) -> None:
        """Tell the watch of this thread, and of the writes of all threads, from now on."""
        set_saved_tensor_hooks((*MODES.here.saving, self.hooks))
        if self.watch.entered_here():
            WRITE_LISTENERS.append(self.wrote)

    def leave(self) -> None:
        """Take the hooks off this thread, wherever in its stack they are."""
        if self.wrote in WRITE_LISTENERS:
            WRITE_LISTENERS.remove(self.wrote)
        if self.hooks is None:
            return  # already off
        pairs = MODES.here.saving
        others = tuple(pair for pair in pairs if pair is not self.hooks)
        # Where a block of the program's own that began earlier has ended earlier, it took ours: this takes its own.
        set_saved_tensor_hooks(others if len(others) < len(pairs) else pairs[:-1])
        self.hooks = None

    def wrote(self, tensor: Any) -> None:
        """Called with each tensor that was written, before its version says so."""
        self.watch.wrote(tensor, done=True)

    def pack(self, tensor: Any) -> Kept:
        """Called with each tensor that a node saves; what is returned stands in its place."""
        if self.watch.ended:  # and its thread goes on
            self.leave()
        nr = MODES.here.packing.output_nr
        held = (
            tensor if nr is None else tensor.detach()
        )  # a node that held its own result would have to be collected
        if nr is not None and tensor._is_view():
            held.source = weakref.ref(tensor.grad_fn)  # which a write to the view itself replaces
        return self.watch.keep(held, made=-1, output=nr is not None, leaf=tensor.is_leaf, nr=nr)

    def unpack(self, kept: Kept) -> Any:
        """Called when a node reads what it saved."""
        node, tensor = MODES.here.node, kept.tensor
        if kept.detached:
            raise RuntimeError(DETACHED_MESSAGE)
        if kept.counted:
            error = RuntimeError(
                describe_stale(getattr(node, "fn", node), tensor, kept.version, kept.nr)
            )
            if node is not None:
                self.watch.raises(kept, node.name(), error)
            raise error
        if node is not None:
            self.watch.check(kept, lambda: node)
        return tensor

    unpack.changes_nothing = True  # type: ignore[attr-defined]
