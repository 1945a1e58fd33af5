"""A run in a process of its own, which can be ended whatever its code does.

The process is a Python that has just begun, so nothing of the session is there, and what the code does to the process
is gone with it. It sends each step as it is made: plain data, pickled one after another by one pickler, so that steps
of one line still share its site. Its group of processes is ended in any case.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from tinytorch.viz import catalogue

from .program import Into, Text
from .recorder import Look
from .run import LIMITS, Limits, Run

_START = 60.0  # seconds until the process has loaded the engine
_GRACE = (
    1.0  # seconds that the process is given to end the code itself: then it can say where it was
)


class Isolated(Run):
    """A text that was run in a process of its own, with the engine that is imported by the name of `engine`.

    Beside the ways in which a run ends there is "died": the process ended before the code did (os._exit, abort).
    """

    exit: int | None = None
    """The exit status of the process; below 0 the number of the signal that ended it."""

    def __init__(
        self,
        code: str,
        engine: ModuleType,
        look: Look,
        *,
        into: Into = True,
        limits: Limits = LIMITS,
    ) -> None:
        self.limits, self.before, self.steps, self.effects, self.hidden = limits, None, (), (), ()
        self.texts = (Text(code),)
        job = pickle.dumps(
            (code, engine.__name__, look, into, limits, catalogue.current_language())
        )
        told: queue.SimpleQueue[Any] = queue.SimpleQueue()
        process = _process()
        try:
            threading.Thread(target=_talk, args=(process, job, told), daemon=True).start()
            self.ended = self._hear(told)
            if self.ended == "died":
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE)
        except KeyboardInterrupt:
            self.ended = "interrupted"
        finally:
            self.exit = _end(process)

    def _hear(self, told: queue.SimpleQueue[Any]) -> str:
        """Take what the process tells, as long as there is time; how it ended."""
        end = time.monotonic() + _START
        while True:
            try:
                what = told.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return "time"
            if isinstance(what, ValueError):
                raise what
            if isinstance(what, dict):
                vars(self).update(what)
                return self.ended
            if what is None:
                return "died"
            if self.before is None:
                self.before, end = what, time.monotonic() + self.limits.seconds + _GRACE
            else:
                self.steps += (what,)
                self.texts = tuple(dict.fromkeys([*self.texts, what.site.text]))


def _process() -> subprocess.Popen[bytes]:
    program = f"from {__name__} import answer; answer()"
    return subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,  # an interrupt of the notebook is not for it, and those it starts end with it
    )


def _talk(process: subprocess.Popen[bytes], job: bytes, told: queue.SimpleQueue[Any]) -> None:
    """Give the process its job, and put what it tells into the queue; at the end, or at what is not its words, None."""
    assert process.stdin is not None
    assert process.stdout is not None
    with (
        suppress(Exception),
        process.stdout,
        process.stdin,
    ):  # the code may close or write what it likes
        process.stdin.write(job)
        process.stdin.flush()
        load = pickle.Unpickler(process.stdout).load
        while True:
            told.put(load())
    told.put(None)


def _end(process: subprocess.Popen[bytes]) -> int:
    """End the process, and those that it started; its exit status."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    return process.wait()


def answer() -> None:
    """In the process: read the job, run it, and tell what comes of it."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(
        os.open(os.devnull, os.O_WRONLY), 1
    )  # what is printed past Python is not for those who listen
    code, engine, look, into, limits, language = pickle.load(sys.stdin.buffer)
    catalogue.use_language(language)
    send, mine = pickle.Pickler(out).dump, os.getpid()

    def tell(what: object) -> None:
        if os.getpid() == mine:  # and not one that the code has forked
            send(what)
            out.flush()

    try:
        tell(
            vars(
                Run(
                    code,
                    import_module(engine),
                    look,
                    into=into,
                    limits=limits,
                    apart=True,
                    tell=tell,
                )
            )
        )
    except ValueError as error:
        tell(error)
    os._exit(0)  # whatever the code has left to be done at exit
