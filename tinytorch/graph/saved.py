"""Saved tensors: what a node keeps for backward, with the version it saw.

Source: torch's `SavedVariable`. An input is kept as the very object; a result is kept as an alias without history, so
that node and result do not hold each other, and is given its `grad_fn` back when it is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .modes import MODES, no_grad

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class SavedTensor:
    """One tensor kept for backward; reading it checks that it was not written to since."""

    __slots__ = ("_hooks", "_packed", "_tensor", "_version", "_written_by")

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor
        self._version = tensor._vc.version
        self._hooks = None
        if _default_hooks:
            if _default_hooks[-1] is not None:
                self.register_hooks(*_default_hooks[-1])

    def unpack(self, node: Any = None) -> Any:
        """The saved tensor. RuntimeError, in torch's words, if it was freed or changed in place since."""
        if self._hooks is not None:
            return self._unpack_hook(node)
        tensor = self._tensor
        if tensor is None:
            raise RuntimeError(FREED)
        if tensor._vc.version != self._version:
            raise RuntimeError(self._stale(tensor, node))
        return self._restore(tensor, node)

    show = property(lambda self: self.unpack, doc="What `grad_fn._saved_*` gives.")

    def _restore(self, tensor: Any, node: Any) -> Any:
        return tensor

    def _source(self, tensor: Any, node: Any) -> tuple[Any, int]:
        return tensor.grad_fn, tensor._output_nr

    def _stale(self, tensor: Any, node: Any) -> str:
        fn, nr = self._source(tensor, node)
        kind = f"torch.{'cuda.' if tensor.device.type == 'cuda' else ''}{tensor.dtype.tensor_type}"
        origin = f", which is output {nr} of {fn.short_name()}," if fn is not None else ""
        if MODES.anomaly:
            hint = (
                "Hint: the backtrace further above shows the operation that failed to compute its gradient. The "
                "variable in question was changed in there or anywhere later. Good luck!"
            )
        else:
            hint = (
                "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True, check_nan=False)."
            )
        return (
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{kind} {list(tensor.shape)}]{origin} is at version {tensor._vc.version}; expected version "
            f"{self._version} instead. {hint}"
        )

    def release(self) -> None:
        """Let the tensor go; reading it afterwards says that it was freed."""
        self._tensor = None
        self._packed = None
        self._hooks = None

    @property
    def data(self) -> Any:
        """What is kept, without asking whether it was written since, as torch's `_raw_saved_*.data`; None if freed."""
        return self._tensor

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook that reading it would call; None without hooks."""
        return None if self._hooks is None else self._hooks[1]

    # saved-tensor hooks ------------------------------------------------------------------------------------------

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Replace what is kept by `pack_hook(tensor)`; `unpack_hook` of that is what backward reads."""
        if self._hooks is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: "
                               "only one pair of hooks is allowed at a time.")  # fmt: skip
        tensor = self._tensor
        if tensor is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward."
            )
        with no_grad():
            version = tensor._vc.version
            packed = pack_hook(tensor)
            if tensor._vc.version != version:
                raise RuntimeError(
                    "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                    "can not be modified by in-place operations as this can lead to unexpected side-effects. Please "
                    "open an issue if you need to perform in-place operations on the input to a pack hook."
                )
        self._hooks = (pack_hook, unpack_hook)
        self._packed = (packed, tensor._grad_fn is None and tensor._requires_grad, tensor)
        if not self._packed[1]:  # a leaf stays known, so that its gradient finds it
            self._packed = (packed, False, None)
            self._written_by = (tensor.grad_fn, tensor._output_nr, tensor.requires_grad)
        self._tensor = None

    def _unpack_hook(self, node: Any) -> Any:
        packed, is_leaf, leaf = self._packed
        out = self._hooks[1](packed)
        if not hasattr(out, "_vc"):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type(out)!r}")  # fmt: skip
        if is_leaf:
            return out if out is leaf else out._with_history_of_leaf(leaf)
        fn, nr, requires_grad = self._written_by
        return out._with_history(fn, nr) if fn is not None else out


class SavedResult(SavedTensor):
    """A node's own output, kept for its backward."""

    __slots__ = ("_nr",)

    def __init__(self, tensor: Any, nr: int = 0) -> None:
        self._nr = nr
        super().__init__(tensor._alias())

    def _restore(self, tensor: Any, node: Any) -> Any:
        return tensor._with_history(node, self._nr) if node is not None else tensor

    def _source(self, tensor: Any, node: Any) -> tuple[Any, int]:
        return node, self._nr

    def _unpack_hook(self, node: Any) -> Any:
        return self._hooks[1](self._packed[0])._with_history(node, self._nr)


_default_hooks: list[tuple[Callable, Callable] | None] = []


class saved_tensors_hooks:
    """Inside, every tensor saved for backward goes through `pack_hook`, and through `unpack_hook` when read."""

    def __init__(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self) -> None:
        _default_hooks.append(self.hooks)

    def __exit__(self, *exc: object) -> None:
        _default_hooks.pop()
