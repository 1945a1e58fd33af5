"""Questions to one object of either engine: they change nothing, and `read_history` alone raises."""

from __future__ import annotations

import re
import sys
from contextlib import ExitStack
from functools import cache
from typing import Any, NamedTuple

from .save_comparison import SaveUnderWatch

_ENGINES = ("torch", "tinytorch")


def version_of(tensor: Any) -> int | None:
    """Return the tensor's version; None for inference tensors, which have no counter."""
    try:
        return int(tensor._version)
    except (RuntimeError, AttributeError):
        return None


def engine_name(tensor: Any) -> str:
    """Return the name of the module that a tensor's operations come from: "torch", "tinytorch"."""
    # A subclass of the user's is defined elsewhere: one of its bases is the engine's.
    for base in type(tensor).__mro__:
        package = base.__module__.partition(".")[0]
        if package in _ENGINES:
            return package
    return type(tensor).__module__.partition(".")[0]


def is_tensor(thing: object) -> bool:
    """Return True for a tensor of an engine that can be read (tinytorch, torch)."""
    # Asking the class, not the object, runs no code of the user's but for that of a metaclass,
    # which may raise anything.
    kind = type(thing)
    try:
        # Not all() over names: every attribute of a model is asked.
        return (
            hasattr(kind, "untyped_storage")
            and hasattr(kind, "storage_offset")
            and hasattr(kind, "grad_fn")
            and hasattr(kind, "_version")
        )
    except Exception:  # noqa: BLE001 - see above
        return False


def inner_tensors(tensor: Any) -> list[tuple[str, Any]]:
    """Return attribute and tensor of those that a subclass wraps, as it says; none for most."""
    try:
        found = [(name, getattr(tensor, name)) for name in tensor.__tensor_flatten__()[0]]
    except Exception:  # noqa: BLE001 - most have no such method, and it is the subclass's own code
        return []
    return [(name, value) for name, value in found if is_tensor(value)]


def is_python_number(tensor: Any, raw_saved: Any) -> bool:
    """Return True if a saved 0-d tensor is a Python number that the engine wrapped.

    No other code can write to it. tinytorch says so. torch does not; but a wrapped number never
    decides the dtype of a result, as a tensor does.
    """
    if getattr_or_none(raw_saved, "is_number"):
        return True
    engine = sys.modules.get(engine_name(tensor))
    # The dtypes that Python numbers get, each with a smaller one of its kind.
    smaller_dtype = {
        "torch.float64": "float32",
        "torch.int64": "int8",
        "torch.complex128": "complex64",
    }.get(str(tensor.dtype))
    if engine is None or smaller_dtype is None:
        return False
    dtype = getattr(engine, smaller_dtype)
    return bool(engine.result_type(tensor, _make_scalar(engine, dtype)) == dtype)


@cache
def _make_scalar(engine: Any, dtype: Any) -> Any:
    return engine.zeros((), dtype=dtype)


def find_foreign_hook(raw_saved: Any) -> Any:
    """Return the hook that unpacks a saved tensor, if it is not one of `copylab.watch`.

    raw_saved: as in the next two, the engine's SavedTensor: `grad_fn._raw_saved_self`.
    """
    hook = getattr_or_none(raw_saved, "unpack_hook")
    if hook is None or getattr_or_none(hook, "is_of_watch"):
        return None
    return hook


def find_watched_save(raw_saved: Any) -> SaveUnderWatch | None:
    """Return the `WatchedSave` that a node holds under `copylab.watch`; None without a watch.

    It is of a package above this one, so that what pictures read of it is declared here, as
    `SaveUnderWatch`. The watch's `pack` put it in the tensor's place; its `unpack` is marked
    `is_of_watch`.
    """
    hook = getattr_or_none(raw_saved, "unpack_hook")
    is_watched = hook is not None and getattr(hook, "is_of_watch", False)
    if not is_watched:
        return None
    return getattr_or_none(raw_saved, "data")


def find_tensor_in(raw_saved: Any) -> Any:
    """Return the tensor in a SavedTensor; None if there is none, or a hook has made it another."""
    watched_save = find_watched_save(raw_saved)
    # Under a watch the node holds the watch's `WatchedSave`, and that has the tensor. Older releases
    # of PyTorch have no `data` there: then it is not known.
    tensor = getattr_or_none(raw_saved, "data") if watched_save is None else watched_save.tensor
    if not is_tensor(tensor):
        return None
    return tensor


def disable_overrides() -> ExitStack:
    """Return a context in which no subclass and no mode of torch is asked.

    Without torch in the process, or with a release that lacks the switches, it does nothing.
    """
    stack = ExitStack()
    for module, switch in (
        ("torch._C", "DisableTorchFunction"),
        ("torch.utils._python_dispatch", "_disable_current_modes"),
    ):
        context_class: Any = getattr(sys.modules.get(module), switch, None)
        if context_class is not None:
            stack.enter_context(context_class())
    return stack


def is_observed(root: Any) -> bool:
    """Return True if something of the program's own sees what runs: a mode, a profiler, a subclass.

    root: the tensor that backward begins at. Modes of `copylab.watch` are marked `is_of_watch`.
    """
    if engine_name(root) != "torch":
        return False  # tinytorch has none of these
    engine: Any = sys.modules["torch"]
    c = engine._C
    count_modes, mode_at = c._len_torch_dispatch_stack, c._get_dispatch_stack_at
    return (
        any(not getattr_or_none(mode_at(k), "is_of_watch") for k in range(count_modes()))
        or c._len_torch_function_stack() > 0
        or c._autograd._profiler_enabled()
        or type(root) is not engine.Tensor
    )


class StaleVersions(NamedTuple):
    """The versions in an engine's error for a saved tensor that was written since."""

    now: int
    """That of the tensor when it was read."""
    then: int
    """That at which it was saved."""


def parse_stale_versions(message: str) -> StaleVersions | None:
    """Return the versions in "... is at version 1; expected version 0 instead"; None of others.

    tinytorch says the same, word for word, and so do the hooks of `copylab.watch`.
    """
    found = re.search(r"is at version (\d+); expected version (\d+)", message)
    if found is None:
        return None
    return StaleVersions(int(found[1]), int(found[2]))


def getattr_or_none(owner: Any, attribute: str) -> Any:
    """Return the attribute, or None where there is none or reading it raises."""
    try:
        return getattr(owner, attribute, None)
    except Exception:  # noqa: BLE001 - what one attribute raises hides no other
        return None


def can_wait_for(tensor: Any) -> bool:
    """Return True if the values of a tensor may be read now; False where that would disturb a GPU.

    While a CUDA graph is captured, waiting for the device makes the capture an error. A program
    may also have asked for an error, or a warning, at each wait.
    """
    if tensor.device.type != "cuda" or engine_name(tensor) != "torch":
        return True
    # A watch asks for each tensor that is saved: the functions around these take three times as long.
    c = sys.modules["torch"]._C
    return not c._cuda_isCurrentStreamCapturing() and not c._cuda_get_sync_debug_mode()


# -- history -----------------------------------------------------------------------------
#
# torch makes the history of a view anew where its base was written to since, and it does so when
# `grad_fn` or `is_leaf` is read. After that the view keeps the history even if its base loses its
# own (`base.detach_()`): a program that looks gets a gradient where one that does not gets none. So
# the history that torch would make is made for a twin of such a view, which is thrown away.


class History(NamedTuple):
    """`is_leaf` and `grad_fn` of a tensor; `is_of_twin` if the tensor itself has another node yet."""

    is_leaf: bool
    grad_fn: Any
    is_of_twin: bool


def leaf_of_accumulator(node: Any) -> Any:
    """Return the leaf whose `.grad` an AccumulateGrad adds to; None for any other node.

    By its class: a Function of the user's may set an attribute `variable` on its ctx, too.
    """
    if type(node).__name__ == "AccumulateGrad":
        return node.variable
    return None


def read_history(tensor: Any) -> History:
    """Return `is_leaf` and `grad_fn` of a tensor, as reading them would give them.

    Raises what reading them raises: RuntimeError for a view made in no_grad mode whose base was
    written since.
    """
    base = getattr_or_none(tensor, "_base")
    if base is None or not _has_outdated_history(tensor):
        return History(bool(tensor.is_leaf), tensor.grad_fn, False)
    # In no_grad mode the twin would have no history at all.
    with sys.modules[engine_name(tensor)].enable_grad():
        twin = tensor._view_func(base)
    return History(bool(twin.is_leaf), twin.grad_fn, True)


def grad_fn_or_none(tensor: Any) -> Any:
    """Return the `grad_fn` of a tensor; None without one, and where reading it raises."""
    try:
        return read_history(tensor).grad_fn
    except Exception:  # noqa: BLE001 - its history is invalid, or a subclass refuses
        return None


def grad_or_none(tensor: Any, grad_fn: Any) -> Any:
    """Return the `.grad` of a tensor, if it is a leaf or retains it; None for all others.

    torch warns where that of another result is read. `grad_fn` is that of the tensor, as
    `read_history` or `grad_fn_or_none` read it: `tensor.grad_fn` might make it anew.
    """
    if grad_fn is None or getattr_or_none(tensor, "retains_grad"):
        grad = getattr_or_none(tensor, "grad")
        if not is_tensor(grad):
            return None
        return grad
    return None


def _has_outdated_history(view: Any) -> bool:
    """Return True if reading the history of a view would make it anew.

    torch has no question for that. It refuses to make anew the history of a view that was created
    in no_grad mode: so the view is called one for the length of the question.
    """
    autograd = sys.modules[engine_name(view)]._C._autograd
    created = autograd._get_creation_meta(view)
    if created != autograd.CreationMeta.DEFAULT:
        return False  # reading it changes nothing or raises
    autograd._set_creation_meta(view, autograd.CreationMeta.NO_GRAD_MODE)
    try:
        view.grad_fn  # noqa: B018 - reading is the question
    except RuntimeError:
        return True
    finally:
        autograd._set_creation_meta(view, created)
    return False
