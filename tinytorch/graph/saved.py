"""Saved tensors: what a node keeps for backward, with the version it saw.

A node keeps pairs: a value, and the version that a tensor had when it was saved. Where somebody looks at a saved tensor
as such, or hooks hold, the value is a `SavedTensor`. A result is kept as an alias without history, so that node and
result do not hold each other, and is given its `grad_fn` back when it is read. Source: torch's `SavedVariable`.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import of_number, type_name
from .autograd_meta import TensorBase, meta, needs_grad
from .modes import MODES, call_user, no_grad

FREED = "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors after calling backward."

DETACHED = "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, please use out-of-place `.detach()` instead"

# What stands in place of a version: for a value that is no tensor, or that no formula that runs would read (None), for a
# number that torch saves as a 0-d tensor, for a `SavedTensor` or a tuple of them, for a tensor that was let go.
NUMBER, OBJECT, GONE = -1, -2, -3


HOOKS: set = (
    set()
)  # the threads in which hooks hold: mostly empty, which is all that saving a tensor has to look at


def hold(pairs: tuple) -> None:
    """Have these hooks on what is saved hold in this thread, and no others."""
    here = MODES.here
    here.saving = pairs
    (HOOKS.add if pairs else HOOKS.discard)(id(here))


# keeping -----------------------------------------------------------------------------------------------------------------


def kept(value: Any) -> tuple[Any, Any]:
    """A value as a node keeps it, and its version: tensors, sequences of tensors, and what is no tensor."""
    if isinstance(value, TensorBase):
        version = value._counter[0]  # which says that an inference tensor cannot be saved
        if HOOKS and (pairs := MODES.here.saving):
            return SavedTensor(value, version, pairs[-1]), OBJECT
        return value, version
    if type(value) in (tuple, list) and any([isinstance(v, TensorBase) for v in value]):
        pairs = [kept(v) for v in value]
        return tuple(
            [v if version == OBJECT else SavedTensor(v, version) for v, version in pairs]
        ), OBJECT
    return value, None


def objects(value: Any) -> tuple:
    """The `SavedTensor`s that stand for one saved value: for a sequence of tensors as many as it has."""
    return value if type(value) is tuple else (value,)


def kept_result(out: TensorBase, nr: int = 0) -> tuple[Any, Any]:
    """A node's own output as it keeps it. Called when `out` has its history, which is what hooks are to see."""
    alias = out._alias()
    if out._view is not None:  # it was written to, and has the history of a view
        alias.source = weakref.ref(out._edge[0])  # type: ignore[attr-defined]
    if HOOKS and (pairs := MODES.here.saving):
        return SavedTensor(alias, out._counter[0], pairs[-1], nr, shown=out), OBJECT
    return alias, out._counter[0]


# reading -----------------------------------------------------------------------------------------------------------------


def read(node: Any, at: int, raw: bool = False, for_formula: bool = True) -> Any:
    """The kept value number `at`: the tensor, or its array if `raw`. RuntimeError if it was freed or written to since."""
    value, version = node._saved[2 * at : 2 * at + 2]
    if version is None or (version == NUMBER and for_formula):
        return value
    nr = node._results.get(at)
    if type(value) is tuple:
        tensors = [v.unpack(node) for v in value]
        return tuple([t if t is None else t._data for t in tensors] if raw else tensors)
    if for_formula and nr is None:
        was = (
            value
            if version >= 0
            else value._kept
            if version == OBJECT and value._hooks is None
            else None
        )
        if isinstance(was, TensorBase) and (m := was._meta) is not None and node._seq < m.detached:
            raise RuntimeError(DETACHED)
    t = checked(node, value, version, nr)
    return t._data if raw and t is not None else t


def number_tensor(number: Any) -> Any:
    """A number as the 0-d tensor that torch saves."""
    from ..tensor import fresh

    return fresh(
        np.array(number, np.float64 if isinstance(number, float) else of_number(number).np)
    )


def checked(node: Any, t: Any, version: Any, nr: int | None) -> Any:
    """What was saved at a version, as it is read now; `nr`: which output of the node it is, None for an input."""
    if version is None:
        return t
    if version == NUMBER:
        return number_tensor(t)
    if version == GONE:
        raise RuntimeError(FREED)
    if version == OBJECT:
        return t.unpack(node)
    now = t._counter[0]
    if now != version:
        raise RuntimeError(stale(node, t, version, now, nr))
    if t._view is not None:
        t.grad_fn  # noqa: B018 - a view whose base was written to may not have one any more, and says so
    return t if nr is None or node is None else as_output(t, node, nr)


def as_output(t: Any, node: Any, nr: int) -> Any:
    """An alias of a kept result, which is the output of its node again."""
    out = t._alias()
    if t._data.dtype.kind == "f":  # the indices of `max` have no history
        out._edge = (shown_source(node, t), nr)
    return out


def shown_source(node: Any, t: Any) -> Any:
    """The node that a kept result of `node` is shown to come from."""
    return (t.__dict__ and t.source()) or node


def stale(node: Any, t: Any, version: int, now: int, nr: int | None) -> str:
    """torch's error for a saved tensor that was written since."""
    if nr is not None:
        fn, at = shown_source(node, t), nr
    else:
        fn, at = t.grad_fn, 0  # torch says 0 for any input, whichever output of its node it is
        if fn is None and node is not None and t._meta is not None and node._seq < t._meta.detached:
            fn = node  # detached since; torch then names the node that saved it
    kind = f"torch.{'cuda.' if t.is_cuda else ''}{t.dtype.tensor_type}"
    if t.dtype.called == "bool":  # which has no legacy type there
        kind = f"{t.device.type.upper()}{t.dtype.scalar_name}Type"
    return stale_text(kind, t.shape, fn, at, now, version, MODES.anomaly)


def stale_text(
    kind: str, shape: Any, fn: Any, nr: int, now: int, version: int, anomaly: bool
) -> str:
    """torch's words for it. `fn`: the node of which the tensor is output `nr`, None for a leaf."""
    origin = "" if fn is None else f", which is output {nr} of {short_name(fn.name())},"
    hint = "enable anomaly detection to find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False)."
    if anomaly:
        hint = "the backtrace further above shows the operation that failed to compute its gradient. The variable in question was changed in there or anywhere later. Good luck!"
    return f"one of the variables needed for gradient computation has been modified by an inplace operation: [{kind} {list(shape)}]{origin} is at version {now}; expected version {version} instead. Hint: {hint}"


def short_name(name: str) -> str:
    """A node's name without its suffix, as torch's in-place errors say it (`Mul`)."""
    head, found, number = name.rpartition("Backward")
    return head + number.removeprefix("0") if found and not number.strip("0123456789") else name


# saved tensors as objects ----------------------------------------------------------------------------------------------

_NOTHING: Any = object()  # in place of what a pack hook that raised has made


class SavedTensor:
    """One tensor kept for backward, as `grad_fn._raw_saved_*` shows it; reading it checks that it was not written to."""

    __slots__ = ("_hooks", "_kept", "_nr", "_origin", "_version", "node")
    __module__ = "torch._C._autograd"

    def __init__(
        self,
        tensor: Any = _NOTHING,
        version: int = 0,
        pair: Any = None,
        nr: int | None = None,
        shown: Any = None,
    ) -> None:
        if tensor is _NOTHING:
            raise RuntimeError("Trying to create a SavedTensor object from Python is forbidden.")
        self._kept, self._version, self._nr, self._hooks = tensor, version, nr, None
        self.node: Any = lambda: (
            None
        )  # weak reference to the node, for those who read it by this object
        if pair is not None:
            self._pack(pair, shown if shown is not None else tensor)

    def unpack(self, node: Any = None) -> Any:
        """The saved tensor. RuntimeError, in torch's words, if it was freed or changed in place since."""
        node = node or self.node()
        if self._hooks is not None:
            return self._unpack_hook(node)
        return checked(node, self._kept, self._version, self._nr)

    def release(self) -> None:
        """Let the tensor go; reading it afterwards says that it was freed."""
        if self._version is not None:
            self._kept, self._version, self._hooks = None, GONE, None

    @property
    def data(self) -> Any:
        """What is kept: the tensor, or what a pack hook made of it; None once it was freed."""
        return number_tensor(self._kept) if self._version == NUMBER else self._kept

    @property
    def unpack_hook(self) -> Callable | None:
        """The hook by which the tensor is read, if there is one."""
        return None if self._hooks is None else self._hooks[1]

    def register_hooks(self, pack_hook: Callable, unpack_hook: Callable) -> None:
        """Replace what is kept by `pack_hook(tensor)`; `unpack_hook` of that is what backward reads.

        RuntimeError if there are hooks, if the tensor was freed, or if the pack hook writes to it.
        """
        if self._version is None:
            raise RuntimeError(
                "Calling register_hooks on a saved tensor with value None is forbidden"
            )
        if self._hooks is not None:
            raise RuntimeError("Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is allowed at a time.")  # fmt: skip
        if self._version == GONE:
            raise RuntimeError("Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved variables after calling backward.")  # fmt: skip
        if self._version == NUMBER:
            self._kept, self._version = number_tensor(self._kept), 0
        self._pack((pack_hook, unpack_hook), self._kept.detach())

    def _pack(self, pair: tuple[Callable, Callable], shown: Any) -> None:
        """Keep `pack_hook(shown)` in place of the tensor, and where the tensor stood in the graph."""
        t = self._kept
        leaf = (t, 0) if t._meta is not None and t._meta.requires_grad else None
        self._origin = (t._edge if t.grad_fn is not None else leaf), needs_grad(t)
        self._kept, self._hooks = _NOTHING, pair  # which stays so if the pack hook raises
        version = t._counter[0]
        here = MODES.here
        here.packing = self
        try:
            with no_grad():
                self._kept = call_user(pair[0], shown)
        finally:
            here.packing = None
        if t._counter[0] != version:
            raise RuntimeError("A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an issue if you need to perform in-place operations on the input to a pack hook.")  # fmt: skip

    def _unpack_hook(self, node: Any) -> Any:
        out = call_user(self._hooks[1], *(() if self._kept is _NOTHING else (self._kept,)))
        if not isinstance(out, TensorBase):
            raise TypeError(f"Output of saved tensor unpack_hook expected to be a Tensor but got result of type {type_name(out)}")  # fmt: skip
        if self._nr is not None:
            return as_output(out, node, self._nr) if node is not None else out
        edge, wanted = self._origin
        if not (wanted or needs_grad(out)):
            return out
        alias = out._alias()
        if edge is not None:  # gradients flow to where the tensor stood, a leaf included
            alias._edge = edge
        elif wanted:  # of a view by its base alone
            meta(alias).requires_grad = True
        return alias


# hooks on all that is saved ----------------------------------------------------------------------------------------------


class saved_tensors_hooks:
    """Inside, every tensor saved for backward goes through `pack_hook`, and through `unpack_hook` when read.

    Source: `torch.autograd.graph.saved_tensors_hooks`.
    """

    __module__ = "torch.autograd.graph"

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self) -> None:
        hold((*MODES.here.saving, (self.pack_hook, self.unpack_hook)))

    def __exit__(self, *exc: object) -> None:
        hold(MODES.here.saving[:-1])
