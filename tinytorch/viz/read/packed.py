"""Saved tensors that a hook packed: those of PyTorch's own hooks can be read without calling them.

`node._raw_saved_other` has the hook that would unpack (`unpack_hook`) and what it would be given
(`data`). Which of PyTorch's hooks it is shows by its name; what the others do is not known.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

from ..wording import Phrase, gettext_noop
from .gradient_specs import gradient_specs_of
from .probe import (
    StaleVersions,
    find_foreign_hook,
    find_tensor_in,
    find_watched_save,
    getattr_or_none,
    grad_fn_or_none,
    is_tensor,
    parse_stale_versions,
)
from .rehearsal import StandIn, rehearse_call, stand_in_for
from .save_comparison import SaveUnderWatch
from .user_code import always_raises, label_code


class PackedState(NamedTuple):
    """State of one saved tensor that a hook packed."""

    tensor: Any = None
    """What the hook returns, or copies; None if that is not known."""
    refusal: Phrase | None = None
    """Why the hook raises."""
    doubt: Phrase | None = None
    """Why it is not known what the hook does."""
    is_computed_again: bool = False
    """True if it computes again what was saved, from what is as it was."""
    change: Phrase | None = None
    """Why it gives back other values than it was given."""
    line_to_blame: Phrase | None = None
    """The line that is to blame for that change ("train.py, line 12"); None if it is not known."""


def open_packed(raw_saved: Any) -> PackedState:
    """Return what the hook of a saved tensor would return, or why it would raise."""
    hook, data = find_foreign_hook(raw_saved), getattr_or_none(raw_saved, "data")
    packed_save = data
    if getattr_or_none(hook, "is_around_of_watch"):
        # A watch compares what the hook gives back, and has put what that packed into a record.
        hook, data = hook.__wrapped__, getattr(data, "packed", data)
    name = f"{getattr_or_none(hook, '__module__')}.{getattr_or_none(hook, '__qualname__')}"
    try:
        if name == "torch.autograd.graph.save_on_cpu.__init__.<locals>.unpack_from_cpu":
            _, tensor = data
            return PackedState(tensor if is_tensor(tensor) else None)
        if name == "torch.autograd.graph._swap_with_cloned.__init__.<locals>.unpack_hook":
            return _open_mutated(data, _find_in_closure(hook, "ctx"))
        if name.startswith("torch.utils.checkpoint._checkpoint_hook.__init__.<locals>.unpack_hook"):
            return _open_checkpoint(_find_in_closure(hook, "frame"), packed_save)
    except Exception:  # noqa: BLE001 - another release has other attributes
        pass
    # What the program's own hook does is read off its code: to call it might change something.
    if always_raises(hook):
        refusal = Phrase.of(
            gettext_noop(
                "a hook packed what was saved, and {code}, which unpacks it, raises an error as it is now"
            ),
            code=label_code(hook),
        )
        return PackedState(refusal=refusal)
    stand_in = stand_in_for(data)
    outcome = rehearse_call(hook, [stand_in])
    # It gives back the very tensor that was packed, as a hook that only looks does.
    if outcome is not None and outcome.value is stand_in and is_tensor(data):
        return PackedState(data)
    doubt = Phrase.of(
        gettext_noop(
            "a hook packed what was saved, and {code}, which unpacks it, may raise or return another "
            "tensor"
        ),
        code=label_code(hook),
    )
    return PackedState(doubt=doubt)


def _find_in_closure(function: Any, name: str) -> Any:
    """Return the value of a variable that a function has from around it."""
    return function.__closure__[function.__code__.co_freevars.index(name)].cell_contents


def _open_mutated(handle: Any, context: Any) -> PackedState:
    """Return what `allow_mutation_on_saved_tensors` keeps: a clone, once the tensor was written."""
    graph = sys.modules["torch.autograd.graph"]
    is_known = handle in context.cloned or handle in context.original
    if not graph._allow_mutation_on_saved_tensors_enabled or not is_known:
        refusal = Phrase.of(
            gettext_noop(
                "its saved tensors can only be read inside of the "
                "allow_mutation_on_saved_tensors() in which they were saved"
            ),
        )
        return PackedState(refusal=refusal)
    # Backward reads the clone that was made when the tensor was written to, if it was.
    tensors = context.cloned if handle in context.cloned else context.original
    return PackedState(tensors[handle])


def _open_checkpoint(frame: Any, packed_save: Any) -> PackedState:
    """Return what is known of a checkpoint that computes again what it did not save.

    packed_save: what a watch has noted of that.
    """
    repeated = frame.recompute_fn
    function = label_code(_find_in_closure(repeated, "fn"))
    for versions in _find_written_inputs(frame):
        refusal = Phrase.of(
            gettext_noop(
                "an input of the checkpointed {function} was written to after the forward pass, from "
                "version {then} to {now}"
            ),
            function=function,
            then=versions.then,
            now=versions.now,
        )
        return PackedState(refusal=refusal)
    changed = _find_changed_inputs(frame, packed_save)
    # Arithmetic makes no number of an input that is none: it is one of the function's own.
    if changed == [] or (changed and packed_save.is_number):
        return PackedState(is_computed_again=True)
    if changed:
        change = Phrase.of(
            gettext_noop(
                "backward runs the checkpointed {function} again, and the bytes of an input have "
                "changed since"
            ),
            function=function,
        )
        return PackedState(change=change, line_to_blame=changed[0].line_to_blame)
    doubt = Phrase.of(
        gettext_noop(
            "backward runs the checkpointed {function} again, which may raise or read what has "
            "changed since"
        ),
        function=function,
    )
    return PackedState(doubt=doubt)


def _find_changed_inputs(frame: Any, packed_save: Any) -> list[SaveUnderWatch] | None:
    """Return what a watch knows of each input that changed, of a function that computes with these alone.

    None if it may compute with other things, or raise, or if no watch has compared its inputs.
    """
    changed: list[SaveUnderWatch] = []
    repeated = frame.recompute_fn
    code = getattr_or_none(_find_in_closure(repeated, "fn"), "__code__")
    # `f.__code__ = g.__code__` may have come since; a context of the program's does what it likes.
    is_same_code = code is not None and code is getattr_or_none(packed_save, "code")
    has_context = type(_find_in_closure(repeated, "recompute_context")) is not nullcontext
    if not is_same_code or has_context:
        return None
    arguments = []
    for argument in frame.saved_args:
        tensor, watched_save = find_tensor_in(argument), find_watched_save(argument)
        if tensor is None:
            arguments.append(stand_in_for(argument))
        elif (
            watched_save is None
            or watched_save.has_changed is None
            or tensor.requires_grad != watched_save.required_grad
        ):
            return None
        else:
            arguments.append(stand_in_for(tensor))
            if watched_save.has_changed:
                changed.append(watched_save)
    if _find_in_closure(repeated, "kwargs"):
        return None
    # With an input of another shape the checkpoint raises; with several, what was saved may be
    # computed from the others alone.
    if changed and (len(arguments) > 1 or not _has_shape_of_its_node(changed[0].tensor)):
        return None
    if changed and not changed[0].tensor.dim():
        return None
    outcome = rehearse_call(_find_in_closure(repeated, "fn"), arguments, has_variables=False)
    if outcome is None:
        return None
    values = outcome.value if isinstance(outcome.value, tuple) else (outcome.value,)
    is_plain = all(isinstance(value, StandIn) and not value.origins for value in values)
    if not is_plain:
        return None
    return changed


def _has_shape_of_its_node(tensor: Any) -> bool:
    """Return True if a tensor is known to have the shape and dtype that it had when it was computed."""
    node = grad_fn_or_none(tensor)
    specs = () if node is None else gradient_specs_of(node)
    spec = specs[tensor.output_nr] if tensor.output_nr < len(specs) else None
    dtype = str(tensor.dtype).rpartition(".")[2]
    return spec is not None and spec == (tuple(tensor.shape), dtype)


def _find_written_inputs(frame: Any) -> Iterator[StaleVersions]:
    for argument in frame.saved_args:
        unpack = getattr_or_none(argument, "unpack")
        # A hook of the program's own would run.
        if unpack is None or find_foreign_hook(argument) is not None:
            continue
        try:
            # The version at the save is nowhere but in the error that this raises.
            unpack()
        except RuntimeError as error:
            versions = parse_stale_versions(str(error))
            if versions is not None:
                yield versions
