"""Saved tensors that a hook packed: those of PyTorch's own hooks can be read without calling them.

`node._raw_saved_other` has the hook that would unpack (`unpack_hook`) and what it would be given
(`data`). Which of PyTorch's hooks it is shows by its name; what the others do is not known.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..wording import gettext
from .probe import (
    StaleVersions,
    find_foreign_hook,
    find_tensor_in,
    find_watched_save,
    getattr_or_none,
    is_tensor,
    parse_stale_versions,
)
from .rehearsal import StandIn, rehearse_call, stand_in_for
from .user_code import describe_code


class PackedState(NamedTuple):
    """State of one saved tensor that a hook packed."""

    tensor: Any = None
    """What the hook returns, or copies; None if that is not known."""
    refusal: str = ""
    """Why the hook raises."""
    doubt: str = ""
    """Why it is not known what the hook does."""
    is_computed_again: bool = False
    """True if it computes again what was saved, from what is as it was."""


def open_packed(raw: Any) -> PackedState:
    """Return what the hook of a saved tensor would return, or why it would raise."""
    hook, data = find_foreign_hook(raw), getattr_or_none(raw, "data")
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
            return _open_checkpoint(_find_in_closure(hook, "frame"))
    except Exception:  # noqa: BLE001 - another release has other attributes
        pass
    stand_in = stand_in_for(data)
    outcome = rehearse_call(hook, [stand_in])
    if outcome is not None and outcome.value is stand_in and is_tensor(data):
        return PackedState(data)
    doubt = gettext(
        "a hook packed what was saved, and {code}, which unpacks it, may raise or return another "
        "tensor",
        code=describe_code(hook),
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
        refusal = gettext(
            "its saved tensors can be read inside of that allow_mutation_on_saved_tensors() only "
            "in which they were saved"
        )
        return PackedState(refusal=refusal)
    return PackedState(
        context.cloned[handle] if handle in context.cloned else context.original[handle]
    )


def _open_checkpoint(frame: Any) -> PackedState:
    """Return what is known of a checkpoint that computes again what it did not save."""
    repeated = frame.recompute_fn
    function = describe_code(_find_in_closure(repeated, "fn"))
    for versions in _find_written_inputs(frame):
        refusal = gettext(
            "an input of the checkpointed {function} was written after the forward pass, from "
            "version {then} to {now}",
            function=function,
            then=versions.then,
            now=versions.now,
        )
        return PackedState(refusal=refusal)
    if _computes_again(frame):
        return PackedState(is_computed_again=True)
    doubt = gettext(
        "backward runs the checkpointed {function} again, which may raise or read what has "
        "changed since",
        function=function,
    )
    return PackedState(doubt=doubt)


def _computes_again(frame: Any) -> bool:
    """Return True if the checkpointed function computes with its arguments alone, and these are as they were.

    Only a watch knows that of tensors.
    """
    repeated = frame.recompute_fn
    arguments = []
    for saved in frame.saved_args:
        tensor, watched_save = find_tensor_in(saved), find_watched_save(saved)
        if tensor is None:
            arguments.append(stand_in_for(saved))
        elif watched_save is None or watched_save.has_changed is not False:
            return False
        else:
            arguments.append(stand_in_for(tensor))
    if _find_in_closure(repeated, "kwargs"):
        return False
    outcome = rehearse_call(_find_in_closure(repeated, "fn"), arguments, has_variables=False)
    if outcome is None:
        return False
    values = outcome.value if isinstance(outcome.value, tuple) else (outcome.value,)
    return all(isinstance(value, StandIn) and not value.origins for value in values)


def _find_written_inputs(frame: Any) -> Iterator[StaleVersions]:
    for saved in frame.saved_args:
        unpack = getattr_or_none(saved, "unpack")
        # A hook of the program's own would run.
        if unpack is None or find_foreign_hook(saved) is not None:
            continue
        try:
            # The version at the save is nowhere but in the error that this raises.
            unpack()
        except RuntimeError as error:
            versions = parse_stale_versions(str(error))
            if versions is not None:
                yield versions
