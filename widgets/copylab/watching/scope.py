"""The scope of the watches that are on: engines that are imported, and threads that are started, while they last.

Hooks on saved tensors and dispatch modes belong to a thread: a watch enters each thread that a watched thread starts.
"""

from __future__ import annotations

import functools
import importlib.util
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .observer import Watch

ENGINES = ("torch", "tinytorch")
_Result = TypeVar("_Result")

_WATCHES: list[Watch] = []
_LOCK = threading.RLock()


def begin(watch: Watch) -> None:
    """Tell a watch of engines that are imported and threads that are started from now on."""
    with _LOCK:
        if not _WATCHES:
            sys.meta_path.insert(0, _FINDER)
            THREAD_START.install()
        _WATCHES.append(watch)


def end(watch: Watch) -> None:
    """Tell it no more. After the last watch, Python imports and starts threads as before."""
    with _LOCK:
        _WATCHES.remove(watch)
        if not _WATCHES:
            if _FINDER in sys.meta_path:
                sys.meta_path.remove(_FINDER)
            THREAD_START.remove()


def _watches_here() -> list[Watch]:
    """The watches that hold in this thread, the outermost first."""
    return [watch for watch in list(_WATCHES) if watch.holds_here()]


class Replacement:
    """An attribute that is replaced while somebody needs it, by a function of the original."""

    def __init__(self, owner: Any, name: str, replace: Callable[[Any], Any]) -> None:
        self.owner, self.name, self.replace = owner, name, replace
        self.users = 0
        self.original: Any = None
        self.replaced: Any = None

    def install(self) -> None:
        """Replace the attribute, if nobody has yet."""
        with _LOCK:
            self.users += 1
            if self.users == 1:
                self.original = getattr(self.owner, self.name)
                self.replaced = self.replace(self.original)
                setattr(self.owner, self.name, self.replaced)

    def remove(self) -> None:
        """Put the original back after the last user; not over what another tool has put there since."""
        with _LOCK:
            self.users -= 1
            if not self.users and getattr(self.owner, self.name) is self.replaced:
                setattr(self.owner, self.name, self.original)


# -- engines that are imported ---------------------------------------------------------


class _EngineFinder:
    """Has the other finders find an engine, and tells the watches when its module has been executed.

    Nothing else is told by Python: an audit hook, which would, can never be removed.
    """

    def __init__(self) -> None:
        self._asking = threading.local()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return what the others find, with a loader that tells of the executed module; None for other modules."""
        if name not in ENGINES or name in sys.modules or getattr(self._asking, "now", False):
            return None
        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        if (
            spec is not None
            and hasattr(spec.loader, "exec_module")
            and not isinstance(spec.loader, type)
        ):
            _tell_when_executed(name, spec.loader)
        return spec


_FINDER = _EngineFinder()


def _tell_when_executed(name: str, loader: Any) -> None:
    """Have this loader, made for this one import, attach the watches after it has executed the module."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        for watch in _watches_here():
            watch.attach_imported(name, sys.modules.get(name, module))

    with suppress(
        AttributeError
    ):  # a loader with slots: the watch says at its end that the engine was not attached
        loader.exec_module = exec_module


# -- threads that are started ----------------------------------------------------------


class _UnwatchedThread(threading.Thread):
    """A thread of the watch's own, which no watch follows."""


def run_in_unwatched_thread(function: Callable[[], _Result]) -> _Result:
    """Call a function in a thread of its own, in which no hook, mode or watch of the program holds."""
    results: list[_Result] = []
    thread = _UnwatchedThread(target=lambda: results.append(function()))
    thread.start()
    thread.join()
    return results[0]


def _wrap_thread_start(
    start: Callable[[threading.Thread], None],
) -> Callable[[threading.Thread], None]:
    """`Thread.start` that takes the watches of the starting thread into the started one."""

    @functools.wraps(start)
    def start_watched(self: Any) -> None:
        watches = _watches_here()
        if isinstance(self, _UnwatchedThread):
            return start(self)
        if not watches or not hasattr(self, "_bootstrap_inner") or self.ident is not None:
            return start(self)
        if "_bootstrap_inner" in vars(
            self
        ):  # by this function, which another tool has wrapped and so kept in place
            return start(self)
        bootstrap = self._bootstrap_inner

        def bootstrap_watched() -> None:
            # Around all of it and not around `run`: an error in the thread then has the traceback that it has without.
            del self._bootstrap_inner
            with ExitStack() as stack:
                for watch in watches:
                    stack.enter_context(watch.in_thread())
                bootstrap()

        self._bootstrap_inner = bootstrap_watched
        try:
            return start(self)
        except RuntimeError:  # no more threads can be started
            self.__dict__.pop("_bootstrap_inner", None)
            raise

    return start_watched


THREAD_START = Replacement(threading.Thread, "start", _wrap_thread_start)
