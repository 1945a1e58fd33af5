"""The memory that operations make while a program runs, with the operation and the line.

Nothing is kept alive: PyTorch's storages are known by weak references, the arrays of tinytorch, too.
"""

from __future__ import annotations

import gc
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

import tinytorch

from .dispatch_modes import get_quiet_mode_class, push_mode, remove_mode
from .places import Place, PlaceFinder

_TINYTORCH_FOLDER = str(Path(tinytorch.__file__).parent) + os.sep
_NAMES_OF_OPERATIONS = {"lift_fresh": "tensor"}
"""What PyTorch calls `torch.tensor(...)` where it becomes an operation."""


class Allocation(NamedTuple):
    """Memory that was made, and is known by a weak reference."""

    key: int
    """Equal for all tensors over it, as long as it is there."""
    nbytes: int
    """Its size in bytes."""
    operation: str
    """The operation that made it."""
    place: Place | None
    """The line that called the operation; None if it is not known."""
    is_alive: Callable[[], bool]
    """Says if it is still there."""


class AllocationLog:
    """What was made so far. Memory that was there before is none of it."""

    def __init__(self) -> None:
        self.place_finder = PlaceFinder()
        self.by_key: dict[int, Allocation] = {}
        self.sees_tinytorch = True

    def list_alive(self) -> list[Allocation]:
        """Return what is still there, after what is garbage has been collected; forget the rest."""
        gc.collect()
        self.forget_freed()
        return list(self.by_key.values())

    def forget_freed(self) -> None:
        """Forget what is gone: a step may make millions of tensors."""
        alive = [allocation for allocation in self.by_key.values() if allocation.is_alive()]
        self.by_key = {allocation.key: allocation for allocation in alive}

    @contextmanager
    def record(self) -> Iterator[None]:
        """Note what is made in this thread by the engines that are imported."""
        with ExitStack() as stack:
            torch = sys.modules.get("torch")
            if torch is not None and hasattr(torch, "Tensor"):
                self.place_finder.skip_folder(str(Path(str(torch.__file__)).parent))
                mode = _make_recording_mode(self, torch)
                push_mode(mode)
                stack.callback(remove_mode, mode)
            self.place_finder.skip_folder(_TINYTORCH_FOLDER.rstrip(os.sep))
            # There is room for one profiler, and the program may have its own.
            self.sees_tinytorch = sys.getprofile() is None
            if self.sees_tinytorch:
                stack.enter_context(_ReturnRecorder(self).install())
            yield

    def memory_key(self, tensor: Any) -> int | None:
        """Return the key of a tensor's memory; None for a tensor without storage."""
        if isinstance(tensor, tinytorch.Tensor):
            return id(_find_owner(tensor))
        try:
            return int(tensor.untyped_storage()._cdata)
        except Exception:  # noqa: BLE001 - sparse layouts and subclasses each raise another error
            return None


# -- PyTorch ---------------------------------------------------------------------------


def _make_recording_mode(log: AllocationLog, torch: Any) -> Any:
    """Make a dispatch mode that notes the storages that operations make."""
    # Of storages: PyTorch refuses to swap a tensor that has a weak reference.
    weak_reference = import_module("torch.multiprocessing.reductions").StorageWeakRef

    class RecordingMode(get_quiet_mode_class()):  # type: ignore[misc]
        def __torch_dispatch__(
            self, func: Any, types: Any, args: tuple = (), kwargs: Any = None
        ) -> Any:
            results = _call_and_count(torch, func, args, kwargs or {})
            name = func.__name__.partition(".")[0]
            argument_keys = set()
            # What torch.tensor has made comes as its argument.
            if name not in _NAMES_OF_OPERATIONS:
                argument_keys = {
                    log.memory_key(tensor) for tensor in _tensors_of(torch, args, kwargs)
                }
            for result in _tensors_of(torch, (results,), None):
                key = log.memory_key(result)
                if key is None or key in argument_keys or key in log.by_key:
                    continue
                storage = result.untyped_storage()
                reference = weak_reference(storage)
                log.by_key[key] = Allocation(
                    key,
                    int(storage.nbytes()),
                    _NAMES_OF_OPERATIONS.get(name, name),
                    log.place_finder.find_place(),
                    partial(_is_alive, reference),
                )
            return results

    return RecordingMode()


def _is_alive(reference: Any) -> bool:
    return not reference.expired()


def _call_and_count(torch: Any, func: Any, args: tuple, kwargs: dict[str, Any]) -> Any:
    """Call an operation; count its write to a list of tensors, which PyTorch does not under a mode."""
    name = func.__name__.partition(".")[0]
    is_list_write = name.startswith("_foreach_") and name.endswith("_") and args and args[0]
    version = args[0][0]._version if is_list_write else None
    results = func(*args, **kwargs)
    if is_list_write and args[0][0]._version == version:
        torch.autograd.graph.increment_version(args[0])
    return results


def _tensors_of(torch: Any, args: tuple, kwargs: dict[str, Any] | None) -> Iterator[Any]:
    """Yield the tensors of arguments or results, and those in their lists."""
    for value in (*args, *(kwargs or {}).values()):
        if isinstance(value, torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (each for each in value if isinstance(each, torch.Tensor))


# -- tinytorch -------------------------------------------------------------------------


def _find_owner(tensor: Any) -> np.ndarray:
    """Return the array that owns the memory of a tensor of tinytorch."""
    owner: np.ndarray = tensor._data
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    return owner


class _ReturnRecorder:
    """Notes the tensors that functions of tinytorch return, by a profiler of Python.

    The engine's quickest ways make tensors without a call that could be listened to.
    """

    def __init__(self, log: AllocationLog) -> None:
        self.log = log
        # Kept by weak references, or a later array at the same address would be taken for old.
        self.old: dict[int, weakref.ref[Any]] = {}
        for thing in gc.get_objects():
            # By its class: what stands for another object may run code when it is asked itself.
            if issubclass(type(thing), tinytorch.Tensor):
                owner = _find_owner(thing)
                self.old[id(owner)] = weakref.ref(owner)
        self.unnamed: set[int] = set()
        """Keys of what was made inside of an operation that has not returned yet."""

    @contextmanager
    def install(self) -> Iterator[None]:
        """Look on until the end."""
        sys.setprofile(self.record_return)
        try:
            yield
        finally:
            sys.setprofile(None)

    def record_return(self, frame: FrameType, event: str, result: Any) -> None:
        """Note a tensor that a function of the engine returns."""
        if event != "return" or not issubclass(type(result), tinytorch.Tensor):
            return
        if not frame.f_code.co_filename.startswith(_TINYTORCH_FOLDER):
            return
        owner = _find_owner(result)
        key = id(owner)
        old = self.old.get(key)
        if old is not None and old() is owner:
            return
        allocation = self.log.by_key.get(key)
        # An id is used again once its array is gone.
        if allocation is not None and not allocation.is_alive():
            allocation = None
        if allocation is not None and key not in self.unnamed:
            return
        operation, is_known = _name_operation(frame)
        if allocation is None:
            allocation = Allocation(
                key,
                owner.nbytes,
                operation,
                self.log.place_finder.find_place(),
                partial(_is_referent_there, weakref.ref(owner)),
            )
        # Made deep inside: called by the operation around it, or by what the program has called.
        self.log.by_key[key] = allocation._replace(operation=operation)
        caller = frame.f_back
        is_outermost = caller is None or not caller.f_code.co_filename.startswith(_TINYTORCH_FOLDER)
        if is_known or is_outermost:
            self.unnamed.discard(key)
        else:
            self.unnamed.add(key)


def _is_referent_there(reference: weakref.ref[Any]) -> bool:
    return reference() is not None


def _name_operation(frame: FrameType) -> tuple[str, bool]:
    """Return the name of the operation that a frame of the engine runs, and True if it is one."""
    code = frame.f_code
    # The short ways of an operation are closures, which have its `run` from around them.
    runner = frame.f_locals.get("run") if "run" in code.co_freevars else None
    # A kernel that makes tensors anew is an object with a name itself.
    operation = getattr(runner, "__self__", runner)
    if code.co_qualname.startswith("Op."):
        operation = frame.f_locals.get("self")
    name = getattr(operation, "name", None)
    if isinstance(name, str):
        return name, True
    return getattr(runner, "__name__", code.co_name).strip("_"), False
