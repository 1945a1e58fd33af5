"""The surroundings of a running program: engine, builtins, output, and a stopwatch to end it."""

from __future__ import annotations

import _thread
import builtins
import ctypes
import io
import re
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from functools import lru_cache
from types import FrameType, ModuleType, TracebackType
from typing import Any, Self, TextIO

import tinytorch
from tinytorch.viz import RandomStates, engine_name

from ..wording import gettext, gettext_noop, ngettext

# Where Python writes an address, as in `<object at 0x...>`: other numbers are the program's own.
_ADDRESS = re.compile(r"(?<= at )0x[0-9a-fA-F]{4,}")
# PyTorch names the line of its own C++ source, another one in each release.
_INTERNAL_NOTE = re.compile(r"\s*\(Triggered internally at [^()]*\)\.?")
_CONTROL_CHARACTER = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")
# These would change the direction of the text around them.
_DIRECTION_MARK = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# Characters of output that are stored.
_MAX_OF_RUN, _MAX_OF_STEP = 100_000, 4000
# Seconds until a program that goes on is interrupted again.
_RETRY_SECONDS = 0.25
# Seconds that an import may go on after the time is up: a module that was left half imported stays
# so for the rest of the process. `torch.optim` imports thousands of them at its first step.
_SECONDS_FOR_IMPORTS = 60.0


# -- the engine that it knows as `torch`, and its settings -----------------------------


def require_engine(engine: object) -> ModuleType | None:
    """Return `engine`, which may be None. Raises TypeError if it is no module with a Tensor."""
    if engine is None or (isinstance(engine, ModuleType) and hasattr(engine, "Tensor")):
        return engine
    given = (
        f"the module {engine.__name__}" if isinstance(engine, ModuleType) else type(engine).__name__
    )
    raise TypeError(
        f"engine must be a module with a Tensor, such as torch or tinytorch, not {given}"
    )


def find_engine(names: Mapping[str, Any]) -> ModuleType | None:
    """Return the engine that is called `torch` in `names`, or None."""
    torch = names.get("torch")
    return torch if isinstance(torch, ModuleType) and hasattr(torch, "Tensor") else None


def running_shell() -> Any:
    """Return the IPython shell that runs this program, or None."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def notebook_names() -> dict[str, Any]:
    """Return the variables of the running notebook; an empty dict outside of one."""
    shell = running_shell()
    return {} if shell is None else shell.user_ns


def engine_for(names: Mapping[str, Any], tensor: object = None) -> ModuleType:
    """Return the engine of a tensor, else the `torch` of names or notebook, else tinytorch."""
    if hasattr(tensor, "untyped_storage"):
        return sys.modules[engine_name(tensor)]
    found = find_engine(names) or find_engine(notebook_names())
    return tinytorch if found is None else found


def choose_engine(given: object, own: ModuleType | None) -> ModuleType:
    """Return the engine of a method: its argument, the object's own, or that of the caller."""
    # Two frames up: the method that calls this, then whoever called the method.
    return require_engine(given) or own or engine_for(sys._getframe(2).f_globals)


def make_builtins(engine: ModuleType, *, stepped: bool) -> dict[str, Any]:
    """Return the builtins of a program: `import` takes `engine` for torch, and `input` refuses."""
    return (
        vars(builtins)
        | {"__import__": _make_import(engine)}
        | (_BUILTINS_WHILE_STEPPED if stepped else {"input": _REFUSE_INPUT})
    )


def make_builtins_after_run() -> dict[str, Any]:
    """Return the builtins that replace those of the run when it is over.

    Functions of the program may live on. They get Python's own, looked up at each call.
    """
    return {
        name: _call_builtin_later(name) for name in ("input", "breakpoint", "__import__", "open")
    }


def _call_builtin_later(name: str) -> Callable[..., Any]:
    """Return a function that looks up the builtin when it is called.

    A notebook exchanges `input` for each cell.
    """

    def call_builtin(*args: Any, **kwargs: Any) -> Any:
        return getattr(builtins, name)(*args, **kwargs)

    return call_builtin


def _make_refusal(sentence: str) -> Callable[..., Any]:
    def refuse(*_: object, **__: object) -> None:
        raise RuntimeError(gettext(sentence))

    return refuse


_REFUSE_INPUT = _make_refusal(
    gettext_noop("input() cannot be answered here: write the answer into the code instead")
)
_BUILTINS_WHILE_STEPPED = {
    "input": _make_refusal(
        gettext_noop(
            "input() cannot be answered while the code is stepped: "
            "write the answer into the code instead"
        )
    ),
    "breakpoint": _make_refusal(
        gettext_noop("breakpoint() cannot stop code that is stepped: every line is a stop already")
    ),
}


def _make_import(engine: ModuleType) -> Callable[..., Any]:
    """Return an `import` that takes `engine` for torch: one program runs under both engines."""

    def import_(name: str, *rest: Any, **kwargs: Any) -> Any:
        # `from .torch import x` has a level above 0, and means a module of the user's.
        relative = kwargs.get("level", rest[3] if len(rest) > 3 else 0)
        if name.partition(".")[0] == "torch" and not relative and engine.__name__ != "torch":
            name = engine.__name__ + name[len("torch") :]
            if name == engine.__name__:
                return engine
        return builtins.__import__(name, *rest, **kwargs)

    return import_


@contextmanager
def default_settings(engine: ModuleType) -> Iterator[None]:
    """Give a program the settings of a new process, and restore those of the session afterwards.

    Gradients are recorded, floats are float32, and warnings are not shown.
    """
    default: Any = engine.get_default_dtype()
    # The cell that runs it may be inside of `no_grad` or `inference_mode`.
    with warnings.catch_warnings(), engine.inference_mode(False), engine.enable_grad():
        warnings.simplefilter("ignore")
        if default is not engine.float32:
            engine.set_default_dtype(engine.float32)
        try:
            yield
        finally:
            if engine.get_default_dtype() is not default:
                engine.set_default_dtype(default)


@contextmanager
def repeatable_session(engine: ModuleType) -> Iterator[None]:
    """Use `default_settings`, and random numbers as after `torch.manual_seed(0)`: runs repeat."""
    states = RandomStates(engine)
    with default_settings(engine):
        engine.set_rng_state(_initial_random_state(engine))
        try:
            yield
        finally:
            states.restore()


@lru_cache(maxsize=4)
def _initial_random_state(engine: ModuleType) -> Any:
    return engine.Generator().manual_seed(0).get_state()


# -- what it prints and warns, cut to what can be shown --------------------------------


def stabilize_text(text: str) -> str:
    """Return printable text without addresses of objects, which differ from run to run."""
    return make_printable(_ADDRESS.sub("0x...", text))


def make_printable(text: str) -> str:
    """Return text without control characters; marks that change its direction are escapes."""
    text = _CONTROL_CHARACTER.sub("", text.replace("\r\n", "\n"))
    text = _DIRECTION_MARK.sub(lambda mark: f"\\u{ord(mark[0]):04x}", text)
    # A lone surrogate cannot be stored.
    return text.encode("utf-8", "replace").decode("utf-8")


def describe_error(error: BaseException) -> str:
    """Return the last line of a traceback, `KeyError: 'x'`.

    Never raises, whatever the exception's own methods do.
    """
    name = type(error).__name__
    try:
        message = str(error)
    except BaseException:  # noqa: BLE001  # a __str__ of the user's may raise anything
        message = gettext("<the message of this exception could not be read>")
    return truncate_text(stabilize_text(f"{name}: {message}" if message else name), _MAX_OF_STEP)


def truncate_text(text: str, limit: int) -> str:
    """Return the first `limit` characters, and how many more there were."""
    return text if len(text) <= limit else text[:limit] + _describe_missing(len(text) - limit)


def _describe_missing(count: int) -> str:
    return "\n" + ngettext(
        "... {number} more character, not shown", "... {number} more characters, not shown", count
    )


class OutputBuffer:
    """Gathers the output of the step that runs, as (kind, text) pairs.

    kinds: "out", "err", "warning", "value".

    Stores at most _MAX_OF_STEP characters of a step and _MAX_OF_RUN of a run, and counts the rest.
    """

    def __init__(self) -> None:
        self._room_of_run = _MAX_OF_RUN
        self._parts: list[tuple[str, str]] = []
        self._room_of_step = _MAX_OF_STEP
        self._dropped_count = 0

    def add(self, kind: str, text: str) -> None:
        """Append `text` to the running step."""
        stored = text[: self._room_of_step]
        self._room_of_step -= len(stored)
        self._room_of_run -= len(stored)
        self._dropped_count += len(text) - len(stored)
        if not stored:
            return
        if kind in ("out", "err") and self._parts and self._parts[-1][0] == kind:
            self._parts[-1] = (kind, self._parts[-1][1] + stored)
        else:
            self._parts.append((kind, stored))

    def end_step(self) -> tuple[tuple[str, str], ...]:
        """End the step and return its output; the next step starts empty."""
        parts = [(kind, stabilize_text(text)) for kind, text in self._parts]
        if self._dropped_count:
            parts.append(("cut", _describe_missing(self._dropped_count).strip()))
        self._parts, self._dropped_count = [], 0
        self._room_of_step = min(_MAX_OF_STEP, self._room_of_run)
        return tuple(parts)


class _CapturedStream(io.TextIOBase):
    """Replaces sys.stdout or sys.stderr.

    Threads that were there before the run print to the original.
    """

    encoding = "utf-8"

    def __init__(self, kind: str, output: OutputBuffer, original: TextIO | None) -> None:
        self._kind, self._output, self._original = kind, output, original
        self._others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if threading.get_ident() in self._others and self._original is not None:
            return self._original.write(text)
        self._output.add(self._kind, text)
        return len(text)


@contextmanager
def capture_output(output: OutputBuffer) -> Iterator[None]:
    """Send stdout, stderr and warnings to `output`, and restore all three afterwards.

    A warning is shown as `UserWarning: message`, without the path and the process id that differ
    everywhere, and once for each line that gives it, whatever filters are set outside: the same
    program shows the same warnings.
    """

    def add_warning(
        message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        output.add("warning", f"{category.__name__}: {_INTERNAL_NOTE.sub('', str(message))}")

    stdout, stderr = (
        _CapturedStream("out", output, sys.stdout),
        _CapturedStream("err", output, sys.stderr),
    )
    with redirect_stdout(stdout), redirect_stderr(stderr), warnings.catch_warnings():
        warnings.resetwarnings()
        warnings.simplefilter("default")
        warnings.showwarning = add_warning
        yield


# -- its end ---------------------------------------------------------------------------


class Stop(BaseException):
    """Raised inside the program to end it.

    A BaseException, so that `except Exception` does not catch it.
    """


class Stopwatch:
    """Ends one run in time: `check()` at every step, and a timer for what hangs within a step.

    The timer sends SIGINT to the main thread, as Ctrl-C does, and the handler set here for the
    length of the run tells the two apart. While `busy` is set (a step is being observed) neither
    takes effect before `check()`, so that an observation is never torn in the middle. In a program
    that goes on all the same (it swallows every error, it has a handler of its own) errors are
    raised in its thread until it ends. Outside the main thread there are no signals: the limits
    hold between steps only.
    """

    def __init__(self, seconds: float) -> None:
        # "time" or "interrupt", once one of them has happened.
        self.reason: str | None = None
        self.busy = True
        self._seconds = seconds
        self._lock = threading.Lock()
        self._running = False
        self._previous: object = None
        self._signals = threading.current_thread() is threading.main_thread()

    def __enter__(self) -> Self:
        self._end = time.monotonic() + self._seconds
        self._running = True
        if self._signals:
            self._previous = signal.getsignal(signal.SIGINT)
            signal.signal(signal.SIGINT, self._on_signal)
            self._timer = threading.Timer(self._seconds, self._on_time_up)
            self._timer.daemon = True
            # Python in a browser has no threads: there the limits hold between steps.
            with suppress(RuntimeError):
                self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        with self._lock:
            self._running = False
        with suppress(Stop):
            # An error that was set for this thread and not raised yet is raised in this loop.
            for _ in range(2):
                pass
        if self._signals:
            self._timer.cancel()
            # None: the handler was not set by Python, so Python cannot put it back.
            previous = self._previous if self._previous is not None else signal.SIG_DFL
            signal.signal(signal.SIGINT, previous)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise Stop if the time is up, KeyboardInterrupt if an observation was interrupted."""
        if self.reason is None and time.monotonic() > self._end:
            self.reason = "time"
        if self.reason == "time":
            raise Stop
        if self.reason == "interrupt":
            raise KeyboardInterrupt

    def _on_time_up(self) -> None:
        with self._lock:
            if not self._running or self.reason is not None:
                return
            self.reason = "time"
        while self._interrupt_program():
            time.sleep(_RETRY_SECONDS)
            with self._lock:
                # It swallowed the interrupt, or has a handler of its own.
                if self._running and not self.busy:
                    ident = threading.main_thread().ident or 0
                    if self._spares_import(sys._current_frames().get(ident)):
                        continue
                    stop = ctypes.py_object(Stop)
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), stop)

    def _interrupt_program(self) -> bool:
        """Interrupt the program. Returns False if it has ended."""
        with self._lock:
            if not self._running:
                return False
            # `check()` comes soon, and what runs now may not be the program.
            if self.busy:
                return True
            # This ends a sleep(), which interrupt_main() does not.
            if hasattr(signal, "pthread_kill"):
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main()
            return True

    def _on_signal(self, _number: int, frame: FrameType | None) -> None:
        if not self._running:
            return
        if self.reason is None:
            self.reason = "interrupt"
        # The timer comes again.
        if self.reason == "time" and self._spares_import(frame):
            return
        if not self.busy:
            self.check()

    def _spares_import(self, frame: FrameType | None) -> bool:
        """Return True if the program is in the midst of an import that may go on for a while."""
        if time.monotonic() > self._end + _SECONDS_FOR_IMPORTS:
            return False
        # What is below the frames of this package may be an import of whoever runs the program.
        while frame is not None and frame.f_globals.get("__package__") != __package__:
            if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
                return True
            frame = frame.f_back
        return False
