"""The scope of the watches that are on: engines that are imported and threads that are started.

Hooks on saved tensors and dispatch modes belong to a thread, so a watch enters each thread that a
watched thread starts.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from .observer import Watch
    from .on_torch import TorchHooks

ENGINES = ("torch", "tinytorch")
_Result = TypeVar("_Result")

_WATCHES: list[Watch] = []
_LOCK = threading.RLock()


def register_watch(watch: Watch) -> None:
    """Call a watch for engines that are imported and threads that are started from now on."""
    with _LOCK:
        if not _WATCHES:
            # First: the others find the engine, and Python asks no further finder after that.
            sys.meta_path.insert(0, _FINDER)
            THREAD_START.install()
        _WATCHES.append(watch)


def unregister_watch(watch: Watch) -> None:
    """Stop calling it. After the last watch, Python imports and starts threads as before."""
    with _LOCK:
        _WATCHES.remove(watch)
        if not _WATCHES:
            if _FINDER in sys.meta_path:
                sys.meta_path.remove(_FINDER)
            THREAD_START.remove()


def list_watches() -> list[Watch]:
    """Return all watches that are on, the outermost first."""
    return list(_WATCHES)


def find_watches_of_thread() -> list[Watch]:
    """Return the watches that look at this thread, the outermost first."""
    # A copy: another thread may begin a watch meanwhile.
    return [watch for watch in list(_WATCHES) if watch.covers_this_thread()]


def find_program_thread() -> int:
    """Return the thread for which this one runs: that which called backward, or this one itself.

    The nodes of tensors on a GPU run in a thread of the engine's own, one for each device. It has
    the modes and the hooks on saved tensors of the thread that called, and those of a watch know
    where they belong.
    """
    thread = threading.get_ident()
    if any(watch.is_attached_to(thread) for watch in list(_WATCHES)):
        return thread
    c: Any = getattr(sys.modules.get("torch"), "_C", None)
    if c is None or c._current_graph_task_id() < 0:
        return thread
    modes = [c._get_dispatch_stack_at(k) for k in range(c._len_torch_dispatch_stack())]
    # The mode may be taken off for a formula, or the hooks be below others.
    top = c._autograd._top_saved_tensors_default_hooks(True)
    for owner in (*modes, getattr(top[0], "__self__", None) if top else None):
        program_thread = getattr(owner, "program_thread", None)
        if program_thread is not None:
            return int(program_thread)
    return thread


def find_hooks_of_thread() -> list[TorchHooks]:
    """Return PyTorch under each watch that looks at this thread, the outermost first."""
    found = [watch.find_torch_hooks() for watch in find_watches_of_thread()]
    return [hooks for hooks in found if hooks is not None]


def _go_on_in_forked_child() -> None:
    """Let watches go on in a process that was forked: its thread has their hooks and modes, too."""
    _LOCK.release()
    for watch in _WATCHES:
        watch.begin_in_forked_child()


if hasattr(os, "register_at_fork"):  # not on Windows
    # Taken before: otherwise another thread may hold it, which the child does not have.
    os.register_at_fork(
        before=_LOCK.acquire,
        after_in_parent=_LOCK.release,
        after_in_child=_go_on_in_forked_child,
    )


class Replacement:
    """An attribute that is replaced as long as it has users, by a function of the original."""

    def __init__(self, owner: Any, name: str, replace: Callable[[Any], Any]) -> None:
        self.owner, self.name, self.replace = owner, name, replace
        self.users = 0
        self.original: Any = None
        self._stored: Any = None
        self.replaced: Any = None
        self.is_inherited = False

    def install(self) -> None:
        """Replace the attribute for its first user."""
        with _LOCK:
            self.users += 1
            if self.users == 1:
                self.original = getattr(self.owner, self.name)
                # A static method is stored as another object than it is read as.
                self._stored = vars(self.owner).get(self.name)
                self.is_inherited = self.name not in vars(self.owner)
                self.replaced = self.replace(self.original)
                setattr(self.owner, self.name, self.replaced)

    def remove(self) -> None:
        """Put the original back after the last user; not over what another tool has put there since."""
        with _LOCK:
            self.users -= 1
            # Another tool that came later has ours inside: with the original back, its own would be
            # gone.
            if self.users or vars(self.owner).get(self.name) is not self.replaced:
                return
            if self.is_inherited:
                # Deleted: set here, it would hide a later change of the class that it is inherited
                # from.
                delattr(self.owner, self.name)
            else:
                setattr(self.owner, self.name, self._stored)


class SharedHook:
    """A hook that all threads have as long as it has users.

    One for each would change the dict while another thread goes through it, which raises there.
    """

    def __init__(self, hooks: dict[Any, Any], hook: Callable[..., Any]) -> None:
        self.hooks, self.hook = hooks, hook
        self.users = 0

    def install(self) -> None:
        """Add the hook for its first user."""
        with _LOCK:
            self.users += 1
            if self.users == 1:
                self.hooks[self] = self.hook

    def remove(self) -> None:
        """Take it off after the last user."""
        with _LOCK:
            self.users -= 1
            if not self.users:
                self.hooks.pop(self, None)


@functools.cache
def watch_assignments(
    tensor_class: Any, report_read: Callable[[Any, str], None] | None = None
) -> Replacement:
    """Replace the property `data` of an engine's tensors by one that reports what is assigned to it.

    `w.data = other` is no operation: no mode below and no listener hears of it. report_read: called
    with a tensor whose `data` is read, and the file that reads it; None for an engine whose mode hears of it.
    """

    def replace(original: Any) -> property:
        def set_data(tensor: Any, value: Any) -> None:
            # Before the assignment: what the tensor looked at until now is known only then.
            writes = [watch.record_assignment(tensor) for watch in find_watches_of_thread()]
            try:
                original.__set__(tensor, value)  # raises as the engine does
            finally:
                for write in writes:
                    if write is not None:
                        write.end()

        def get_data(tensor: Any) -> Any:
            if report_read is not None:
                report_read(tensor, sys._getframe(1).f_code.co_filename)
            return original.__get__(tensor)  # raises as the engine does

        get: Any = original.__get__ if report_read is None else get_data
        return property(get, set_data, doc=original.__doc__)

    return Replacement(tensor_class, "data", replace)


# -- engines that are imported ---------------------------------------------------------


class _EngineFinder:
    """Let the other finders find an engine, and attach the watches when its module was executed.

    Python has no other way to hear of an import: an audit hook would, but can never be removed.
    """

    def __init__(self) -> None:
        self._asking = threading.local()

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return what the other finders find, with a loader that attaches the watches."""
        if name not in ENGINES or name in sys.modules or getattr(self._asking, "now", False):
            return None
        # `importlib` asks all finders, this one included.
        self._asking.now = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking.now = False
        # A loader that is a class, as for modules built into Python, is that of all imports.
        if (
            spec is not None
            and hasattr(spec.loader, "exec_module")
            and not isinstance(spec.loader, type)
        ):
            _attach_after_execution(name, spec.loader)
        return spec


_FINDER = _EngineFinder()


def _attach_after_execution(name: str, loader: Any) -> None:
    """Let a loader, made for this one import, attach the watches after it executed the module."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        for watch in find_watches_of_thread():
            watch.attach_imported(name, sys.modules.get(name, module))

    # A loader with slots refuses: the watch says at its end that the engine was not attached.
    with suppress(AttributeError):
        loader.exec_module = exec_module


# -- threads that are started ----------------------------------------------------------


class _UnwatchedThread(threading.Thread):
    """A thread of the watch's own, into which no watch follows."""


def run_in_unwatched_thread(function: Callable[[], _Result]) -> _Result:
    """Call a function in a thread of its own, without hooks, modes and watches of the program."""
    results: list[_Result] = []
    thread = _UnwatchedThread(target=lambda: results.append(function()))
    thread.start()
    # The caller waits, so that for the program nothing runs beside it.
    thread.join()
    return results[0]


def _wrap_thread_start(
    start: Callable[[threading.Thread], None],
) -> Callable[[threading.Thread], None]:
    """`Thread.start` that takes the watches of the starting thread into the started one."""

    @functools.wraps(start)
    def start_watched(self: Any) -> None:
        watches = find_watches_of_thread()
        if isinstance(self, _UnwatchedThread):
            return start(self)
        # `start` refuses a thread that was started before.
        if not watches or not hasattr(self, "_bootstrap_inner") or self.ident is not None:
            return start(self)
        # Already replaced by this function, which another tool has wrapped and so kept in place.
        if "_bootstrap_inner" in vars(self):
            return start(self)
        bootstrap = self._bootstrap_inner

        def bootstrap_watched() -> None:
            # Around all of it and not around `run`: an error in the thread then has the traceback that it has without.
            del self._bootstrap_inner
            with ExitStack() as stack:
                for watch in watches:
                    stack.enter_context(watch.cover_thread())
                bootstrap()

        self._bootstrap_inner = bootstrap_watched
        try:
            return start(self)
        except RuntimeError:  # no more threads can be started
            self.__dict__.pop("_bootstrap_inner", None)
            raise

    return start_watched


THREAD_START = Replacement(threading.Thread, "start", _wrap_thread_start)
