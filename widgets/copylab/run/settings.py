"""The settings of the session that a program may leave changed: read before it, put back after it.

Of Python, of the process, and of the engine: what is entered by `__enter__` and never left, too.
"""

from __future__ import annotations

import decimal
import gc
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from tinytorch.graph import MODES, set_saved_tensor_hooks

from ..wording import gettext_noop

_DECIMAL_FIELDS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")
_AUTOCAST_DEVICES = ("cpu", "cuda")


class Setting(NamedTuple):
    """A setting of the session: what it is about, how it is read, how it is put back."""

    about: str
    read: Callable[[], Any]
    write: Callable[[Any], Any]

    def read_safely(self) -> Any:
        """Return its value; None if it cannot be read (a current folder that was removed)."""
        try:
            return self.read()
        except Exception:  # noqa: BLE001  # whatever it is, the run must not fail on it
            return None

    def has_changed(self, before: Any) -> bool:
        """Return True if its value is another one; also if the program's own objects do not tell."""
        try:
            return bool(self.read_safely() != before)
        except BaseException:  # noqa: BLE001  # an `__eq__` of the program's may raise anything
            return True


def list_settings(engine: Any) -> Iterator[Setting]:
    """Yield the settings, in the order in which they are put back."""
    # Any module with a Tensor can be an engine, with or without these.
    if hasattr(engine, "is_grad_enabled"):
        yield from _list_settings_of_engine(engine)
    if engine.__name__ == "torch":
        yield from _list_settings_of_torch(engine)
    yield Setting(gettext_noop("the current folder"), Path.cwd, os.chdir)
    yield Setting(
        gettext_noop("garbage collection"),
        gc.isenabled,
        lambda on: gc.enable() if on else gc.disable(),
    )
    yield Setting(gettext_noop("the recursion limit"), sys.getrecursionlimit, sys.setrecursionlimit)
    yield Setting(gettext_noop("the trace function"), sys.gettrace, sys.settrace)
    yield Setting(gettext_noop("the profile function"), sys.getprofile, sys.setprofile)
    yield Setting(gettext_noop("signal handlers"), _read_handlers, _put_handlers)
    yield Setting(
        gettext_noop("where Python searches for modules"), _read_search_paths, _put_search_paths
    )
    yield Setting(
        gettext_noop("how errors and results are shown"), _read_display_hooks, _put_display_hooks
    )
    yield Setting(gettext_noop("the umask"), _read_umask, os.umask)
    yield Setting(gettext_noop("the decimal context"), _read_decimal_context, _put_decimal_context)
    yield Setting(gettext_noop("the switch interval"), sys.getswitchinterval, sys.setswitchinterval)


# -- of the engine ---------------------------------------------------------------------


def _list_settings_of_engine(engine: Any) -> Iterator[Setting]:
    yield Setting(
        gettext_noop("whether gradients are recorded"),
        engine.is_grad_enabled,
        engine.set_grad_enabled,
    )
    yield Setting(
        gettext_noop("the default dtype"), engine.get_default_dtype, engine.set_default_dtype
    )
    yield Setting(
        gettext_noop("anomaly mode"),
        lambda: (engine.is_anomaly_enabled(), engine.is_anomaly_check_nan_enabled()),
        lambda modes: engine.autograd.set_detect_anomaly(*modes),  # its constructor sets them
    )
    if engine.__name__ == "tinytorch":
        yield Setting(
            gettext_noop("hooks on saved tensors"),
            lambda: MODES.here.saved_tensor_hooks,
            set_saved_tensor_hooks,
        )


def _list_settings_of_torch(torch: Any) -> Iterator[Setting]:
    yield Setting(
        gettext_noop("the default device"),
        lambda: str(torch.get_default_device()),
        # It is a mode of its own where it was ever set: None ends that.
        lambda name: torch.set_default_device(None if name == "cpu" else name),
    )
    stacks = [
        _ModeStack(import_module(module), f"_get_current_{kind}_mode_stack")
        for module, kind in (
            ("torch.overrides", "function"),
            ("torch.utils._python_dispatch", "dispatch"),
        )
    ]
    yield Setting(
        gettext_noop("the modes that are entered"),
        lambda: [stack.read() for stack in stacks],
        lambda found: [stack.write(modes) for stack, modes in zip(stacks, found, strict=True)],
    )
    autograd = torch._C._autograd
    yield Setting(
        gettext_noop("hooks on saved tensors"),
        lambda: _read_hooks(autograd),
        lambda pairs: _put_hooks(autograd, pairs),
    )
    yield Setting(
        gettext_noop("whether algorithms are deterministic"),
        lambda: (
            torch.are_deterministic_algorithms_enabled(),
            torch.is_deterministic_algorithms_warn_only_enabled(),
        ),
        lambda modes: torch.use_deterministic_algorithms(modes[0], warn_only=modes[1]),
    )
    yield Setting(
        gettext_noop("autocast"),
        lambda: _read_autocast(torch),
        lambda then: _put_autocast(torch, then),
    )
    yield Setting(
        gettext_noop("the number of threads"), torch.get_num_threads, torch.set_num_threads
    )


class _ModeStack(NamedTuple):
    """The modes of one kind that are entered, and the module that has the functions for them."""

    module: Any
    reader: str

    def read(self) -> tuple[Any, ...]:
        return tuple(getattr(self.module, self.reader)())

    def write(self, modes: tuple[Any, ...]) -> None:
        while self.read():
            self.module._pop_mode()
        for mode in modes:
            self.module._push_mode(mode)


def _read_hooks(autograd: Any) -> tuple[Any, ...]:
    """Return the pairs of hooks on saved tensors. PyTorch shows the top one alone."""
    pairs = _pop_hooks(autograd)
    for pair in pairs:
        autograd._push_saved_tensors_default_hooks(*pair)
    return pairs


def _put_hooks(autograd: Any, pairs: tuple[Any, ...]) -> None:
    _pop_hooks(autograd)
    for pair in pairs:
        autograd._push_saved_tensors_default_hooks(*pair)


def _pop_hooks(autograd: Any) -> tuple[Any, ...]:
    pairs = []
    while (top := autograd._top_saved_tensors_default_hooks(True)) is not None:
        autograd._pop_saved_tensors_default_hooks()
        pairs.append(top)
    return tuple(reversed(pairs))


def _read_autocast(torch: Any) -> tuple[Any, ...]:
    nesting = torch.autocast_increment_nesting() - 1
    torch.autocast_decrement_nesting()
    states = [
        (name, torch.is_autocast_enabled(name), torch.get_autocast_dtype(name))
        for name in _AUTOCAST_DEVICES
    ]
    return (nesting, torch.is_autocast_cache_enabled(), states)


def _put_autocast(torch: Any, before: tuple[Any, ...]) -> None:
    nesting, has_cache, states = before
    for name, is_enabled, dtype in states:
        torch.set_autocast_enabled(name, is_enabled)
        torch.set_autocast_dtype(name, dtype)
    torch.set_autocast_cache_enabled(has_cache)
    # The cast weights are given back where the last block ends.
    while _read_autocast(torch)[0] > nesting:
        torch.autocast_decrement_nesting()
    if not nesting:
        torch.clear_autocast_cache()


# -- of Python and the process ---------------------------------------------------------


def _read_handlers() -> dict[int, Any]:
    return {
        number: signal.getsignal(number)
        for number in (signal.SIGTERM, getattr(signal, "SIGALRM", signal.SIGTERM))
    }


def _put_handlers(handlers: dict[int, Any]) -> None:
    for number, handler in handlers.items():
        signal.signal(number, handler)
    # An alarm that is left would end the process, now that the program's handler is gone.
    if hasattr(signal, "alarm"):
        signal.alarm(0)


def _read_search_paths() -> list[list[Any]]:
    return [list(sys.path), list(sys.meta_path), list(sys.path_hooks)]


def _put_search_paths(paths: list[list[Any]]) -> None:
    # In place: others refer to these lists.
    sys.path[:], sys.meta_path[:], sys.path_hooks[:] = paths


def _read_display_hooks() -> tuple[Any, ...]:
    return sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook


def _put_display_hooks(hooks: tuple[Any, ...]) -> None:
    sys.excepthook, sys.displayhook, sys.unraisablehook, threading.excepthook = hooks


def _read_umask() -> int:
    # It cannot be read without being set.
    umask = os.umask(0o077)
    os.umask(umask)
    return umask


def _read_decimal_context() -> tuple[list[Any], dict[Any, bool]]:
    # Not its flags: each inexact result sets one.
    context = decimal.getcontext()
    return [getattr(context, name) for name in _DECIMAL_FIELDS], dict(context.traps)


def _put_decimal_context(before: tuple[list[Any], dict[Any, bool]]) -> None:
    values, traps = before
    context = decimal.getcontext()
    for name, value in zip(_DECIMAL_FIELDS, values, strict=True):
        setattr(context, name, value)
    context.traps.update(traps)
