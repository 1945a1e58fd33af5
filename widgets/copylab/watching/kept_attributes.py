"""Tensors that a Function in Python keeps as attributes, `ctx.y = y`, of which nobody checks the version."""

from __future__ import annotations

import inspect
import sys
import weakref
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..wording import Phrase
from .places import NodeLine, Place, iterate_callers
from .scope import Replacement, find_hooks_of_thread
from .watched_memory import memory_span
from .watched_save import WatchedSave, has_other_bytes

if TYPE_CHECKING:
    from .on_torch import TorchHooks


_REENTRANT = "torch.utils.checkpoint"
"""The module of the Function that `checkpoint(..., use_reentrant=True)` calls."""
_REPEATED = "run_function"
"""The attribute in which that has the function that backward runs again."""


class KeptComparison(NamedTuple):
    """Whether a Function's attribute is what it was: a `SaveComparison`, as a `WatchedSave` is."""

    has_changed: bool | None
    """True if its bytes, or the code of a function, are others; None if they cannot be compared."""
    watched_save: WatchedSave | None
    """What knows the line that wrote; None if the tensor has other memory."""

    @property
    def is_compared_whole(self) -> bool:
        """True if all of its bytes are compared; False if pieces of them are, or none."""
        return self.watched_save is None or self.watched_save.is_compared_whole

    @property
    def line_to_blame(self) -> Phrase | None:
        """The line that wrote, as pictures say it; None if it is not known."""
        return None if self.watched_save is None else self.watched_save.line_to_blame


class KeptAttribute:
    """A tensor that a Function keeps as an attribute of `ctx`, or in a list or dict that is one."""

    def __init__(
        self, name: str, path: str, position: Any, tensor: Any, node_line: NodeLine | None
    ):
        self.name = name
        """The attribute."""
        self.path = path
        """What it is called: "ctx.y", "ctx.inputs[0]"."""
        self.position = position
        """Index or key in that list or dict; None of the attribute itself."""
        self.tensor_id = id(tensor)
        self.node_line = node_line
        """The line that set it."""
        self.save: WatchedSave | None = None
        """What the tensor was when forward had ended; None before."""

    def find_tensor(self, ctx: Any) -> Any:
        """Return the tensor if it is still what the Function keeps there; else None."""
        value = vars(ctx).get(self.name)
        if self.position is not None:
            try:
                value = value[self.position]
            except (IndexError, KeyError, TypeError):
                # The list was emptied, or something else was set in its place.
                return None
        return value if id(value) == self.tensor_id else None

    def compare(self, tensor: Any) -> KeptComparison | None:
        """Compare the tensor with what it was when forward had ended; None if that is not known."""
        save = self.save
        if save is None:
            return None
        # `tensor.set_(other)` and `tensor.data = other` give it other memory, and not its alias here.
        if save.checksum is None or memory_span(tensor) == save.span:
            return KeptComparison(save.has_changed, save)
        # On another device the values may be the same, as after `module.cpu()`.
        has_changed = (
            has_other_bytes(tensor, memory_span(tensor), save.checksum) is True
            if tensor.device == save.tensor.device
            else save.has_changed
        )
        # Names are found by memory: those of either place may be of tensors that are unchanged.
        return KeptComparison(has_changed, None)


class AttributeKeeper:
    """The attributes that Functions of one thread keep, as they were when forward had ended.

    What forward itself writes after it has set an attribute is meant, so they are not compared with
    the moment at which they were set. Forward's end is noticed by the next operation.
    """

    def __init__(self, hooks: TorchHooks) -> None:
        self.hooks = hooks
        self.attributes_by_ctx = weakref.WeakKeyDictionary[Any, list[KeptAttribute]]()
        self.codes_by_ctx = weakref.WeakKeyDictionary[Any, Any]()
        """The code that a reentrant checkpoint has run in forward."""
        self.in_forward: list[tuple[weakref.ref[Any], CodeType | None]] = []
        """The Functions whose forward may be running, and its code."""

    def note_attribute(self, ctx: Any, name: str, value: Any) -> None:
        """Note that an attribute was set, in forward."""
        if name == _REPEATED and _is_reentrant(ctx):
            self.codes_by_ctx.setdefault(ctx, getattr(value, "__code__", None))
        found = list(_find_tensors(value, self.hooks.torch.Tensor))
        earlier = self.attributes_by_ctx.get(ctx)
        if earlier is not None:
            earlier[:] = [attribute for attribute in earlier if attribute.name != name]
        # The number is -1 where no backward runs: what one sets on `ctx` is read by no other.
        if not found or self.hooks.torch._C._current_graph_task_id() >= 0:
            return
        node_line = self.hooks.watch.find_node_line()
        attributes = self.attributes_by_ctx.setdefault(ctx, [])
        for position, tensor in found:
            path = f"ctx.{name}" if position is None else f"ctx.{name}[{position!r}]"
            attributes.append(KeptAttribute(name, path, position, tensor, node_line))
        self.in_forward.append((weakref.ref(ctx), _find_code_of_forward(ctx)))

    def record_ended_forwards(self) -> None:
        """Record what the Functions keep whose forward has ended. Called before each operation."""
        running = set(_find_running_codes(sys._getframe(1)))
        entries_left = [entry for entry in self.in_forward if entry[1] in running]
        contexts = [reference() for reference, code in self.in_forward if code not in running]
        # First: a `WatchedSave` is made by an operation, which comes here, too.
        self.in_forward[:] = entries_left
        for ctx in contexts:
            for attribute in self.attributes_by_ctx.get(ctx, ()) if ctx is not None else ():
                tensor = attribute.find_tensor(ctx)
                if tensor is not None and attribute.save is None:
                    attribute.save = self.hooks.record_alias(tensor, attribute.node_line)

    def check_attributes(self, ctx: Any) -> None:
        """Compare what a Function keeps, before its backward runs."""
        backward_nr = self.hooks.torch._C._current_graph_task_id()
        if backward_nr < 0:
            return
        if _is_reentrant(ctx):
            self.hooks.watch.gaps.count_rerun()
        if self.in_forward:
            self.record_ended_forwards()
        for attribute in self.attributes_by_ctx.get(ctx, ()):
            tensor = attribute.find_tensor(ctx)
            if attribute.save is None or tensor is None:
                continue
            # What the Function itself writes is meant: a buffer in which it counts.
            if not _is_in_function(ctx, attribute.save.find_place_to_blame()):
                self.hooks.watch.check_attribute(attribute, tensor, ctx, backward_nr)

    def find_comparison(self, ctx: Any, name: str) -> KeptComparison | None:
        """Compare an attribute for a look, before backward runs; None if nothing is known of it."""
        if name == _REPEATED and _is_reentrant(ctx):
            return self._compare_code(ctx)
        if self.in_forward:
            self.record_ended_forwards()
        for attribute in self.attributes_by_ctx.get(ctx, ()):
            tensor = attribute.find_tensor(ctx) if attribute.name == name else None
            # A picture has a line for an attribute, and none for an entry of a list that is one.
            if tensor is not None and attribute.position is None:
                return attribute.compare(tensor)
        return None

    def _compare_code(self, ctx: Any) -> KeptComparison | None:
        """Compare what a reentrant checkpoint will run with what it has run."""
        code = self.codes_by_ctx.get(ctx)
        if code is None:
            return None
        now = getattr(vars(ctx).get(_REPEATED), "__code__", None)
        return KeptComparison(now is not code, None)


def _is_reentrant(ctx: Any) -> bool:
    return bool(type(ctx)._forward_cls.__module__ == _REENTRANT)


def _find_tensors(value: Any, tensor_class: type) -> Iterator[tuple[Any, Any]]:
    """Yield the tensors in an attribute, each with its index or key in a list or dict."""
    if isinstance(value, tensor_class):
        yield None, value
        return
    entries: Any = ()
    # No subclasses: to go through one may run code of the program.
    if type(value) in (list, tuple):
        entries = enumerate(value)
    elif type(value) is dict:
        entries = value.items()
    for position, entry in entries:
        if isinstance(entry, tensor_class):
            yield position, entry


def _find_codes(ctx: Any, names: tuple[str, ...]) -> Iterator[CodeType]:
    """Yield the code of methods of the Function that the user wrote, without its decorators."""
    for name in names:
        code = getattr(inspect.unwrap(getattr(type(ctx)._forward_cls, name)), "__code__", None)
        if isinstance(code, CodeType):
            yield code


def _is_in_function(ctx: Any, place: Place | None) -> bool:
    """Return True for a line of the Function's own forward or backward."""
    if place is None:
        return False
    for code in _find_codes(ctx, ("forward", "backward", "setup_context")):
        lines = [line for _, _, line in code.co_lines() if line is not None]
        if code.co_filename == place.file and min(lines) <= place.line <= max(lines):
            return True
    return False


def _find_code_of_forward(ctx: Any) -> CodeType | None:
    """Return the code of the forward that is setting attributes; of another caller's without one."""
    codes = set(_find_codes(ctx, ("forward", "setup_context")))
    # The frames below are those of `note` and of the attribute's setter.
    caller = sys._getframe(3).f_code
    return next((code for code in _find_running_codes(sys._getframe(3)) if code in codes), caller)


def _find_running_codes(frame: FrameType | None) -> Iterator[CodeType]:
    return (caller.f_code for caller in iterate_callers(frame))


@cache
def watch_attributes(node_class: Any) -> tuple[Replacement, ...]:
    """Hear of what Functions in Python set on `ctx`, and of each backward before it runs.

    node_class: the base class of their nodes (`BackwardCFunction`).
    """

    def replace_setter(set_attribute: Any) -> Any:
        def set_watched(ctx: Any, name: str, value: Any) -> None:
            set_attribute(ctx, name, value)
            for hooks in find_hooks_of_thread():
                hooks.attributes.note_attribute(ctx, name, value)

        return set_watched

    def replace_finder(find_user_function: Any) -> Any:
        def find_watched(ctx: Any) -> Any:
            for hooks in find_hooks_of_thread():
                hooks.attributes.check_attributes(ctx)
            return find_user_function(ctx)

        return find_watched

    def replace_caller(call_backward: Any) -> Any:
        # By this name `given_gradients` knows the frame that calls a backward.
        def apply(ctx: Any, *args: Any) -> Any:
            for hooks in find_hooks_of_thread():
                hooks.attributes.check_attributes(ctx)
            return call_backward(ctx, *args)

        return apply

    setter = Replacement(node_class, "__setattr__", replace_setter)
    # PyTorch asks for the user's backward by this method, right before it calls it.
    if hasattr(node_class, "_get_user_fn"):
        return setter, Replacement(node_class, "_get_user_fn", replace_finder)
    return setter, Replacement(node_class, "apply", replace_caller)  # up to 2.12
