"""Stop a running program: after so many steps, after so many seconds, or when its user interrupts."""

from __future__ import annotations

import _thread
import ctypes
import signal
import threading
import time
from contextlib import suppress
from types import FrameType, TracebackType
from typing import Self

_AGAIN = 0.25  # seconds until a program that goes on is stopped once more


class Stop(BaseException):
    """Raised inside the program to end it; a BaseException, so that `except Exception` does not hold it up."""


class Watch:
    """Watches one run: `check()` at every step, and a timer for what hangs within a step.

    The timer sends SIGINT to the main thread, as Ctrl-C does, and the handler set here for the length of the run tells
    the two apart. While `busy` is set (a step is being looked at) neither comes through before `check()`, so that a
    look is never torn in the middle. A program that goes on all the same (it swallows every error, it has a handler of
    its own) has errors raised in its thread until it ends. Outside the main thread there are no signals: the limits
    hold between steps only.
    """

    def __init__(self, seconds: float) -> None:
        self.reason: str | None = None  # "time" or "interrupt", once one of them has happened
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
            signal.signal(signal.SIGINT, self._handle)
            self._timer = threading.Timer(self._seconds, self._ring)
            self._timer.daemon = True
            with suppress(RuntimeError):  # Python in a browser has no threads: there the limits hold between steps
                self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        with self._lock:
            self._running = False
        with suppress(Stop):
            for _ in range(2):  # an error that was thrown and not raised yet is raised here
                pass
        if self._signals:
            self._timer.cancel()
            previous = self._previous if self._previous is not None else signal.SIG_DFL
            signal.signal(signal.SIGINT, previous)  # type: ignore[arg-type]

    def check(self) -> None:
        """Raise what is due: Stop if the time is up, KeyboardInterrupt if the user interrupted during a look."""
        if self.reason is None and time.monotonic() > self._end:
            self.reason = "time"
        if self.reason == "time":
            raise Stop
        if self.reason == "interrupt":
            raise KeyboardInterrupt

    def _ring(self) -> None:
        with self._lock:
            if not self._running or self.reason is not None:
                return
            self.reason = "time"
        while self._hit():
            time.sleep(_AGAIN)
            with self._lock:
                if self._running and not self.busy:  # it swallowed that, or has put a handler of its own there
                    _throw()

    def _hit(self) -> bool:
        """Interrupt the program, if it still runs."""
        with self._lock:
            if not self._running:
                return False
            if self.busy:  # `check()` comes soon; what runs now may be none of the program, and is not to be hit
                return True
            if hasattr(signal, "pthread_kill"):  # wakes a sleep(), which interrupt_main() would not
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            else:
                _thread.interrupt_main()
            return True

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        if not self._running:
            return
        if self.reason is None:
            self.reason = "interrupt"
        if not self.busy:
            self.check()


def _throw() -> None:
    """Have Stop raised in the main thread when Python next looks for what is due."""
    ident = ctypes.c_ulong(threading.main_thread().ident or 0)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(Stop))
