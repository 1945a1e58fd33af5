"""One library in a process of its own: builds its cases and times them when asked.

    python worker.py tinytorch 1 wall

Reads one JSON object a line from standard input and answers each with one:
    {"prepare": "ops/add/1"}    {"calls": 4096}                        how many calls fill a sample
    {"time": "ops/add/1"}       {"seconds": 1.2e-6, "faults": 0.0}     seconds and page faults a call
or {"none": true} if the library has no such case, or {"error": "..."}.
The garbage collector is on, as it is in people's programs.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

SAMPLE = 0.002  # seconds that a sample should take at least
LONG = 0.1  # what takes longer is not warmed up again before each sample


def faults() -> int:
    """Page faults of this process so far; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


class Worker:
    """The cases of one library, each made when it is first asked for and dropped when the next one comes."""

    def __init__(
        self, make: Callable[[str], Callable[[], Any] | None], clock: Callable[[], float]
    ) -> None:
        self.make, self.clock = make, clock
        self.name, self.action = "", None
        self.calls: dict[str, int] = {}
        self.long: set[str] = set()

    def _turn_to(self, name: str) -> Callable[[], Any]:
        if self.name != name or self.action is None:
            self.action = None
            self.name, self.action = name, self.make(name)
        if self.action is None:
            raise LookupError(name)
        return self.action

    def prepare(self, name: str) -> dict[str, Any]:
        """Warm a case up and find out how many calls fill a sample."""
        action = self._turn_to(name)
        first = self._run(action, 1)  # where something is compiled, this time
        if first > 20 * LONG or self._run(action, 1) > LONG:
            self.long.add(name)
            self.calls[name] = 1
            return {"calls": 1}
        calls = 1
        while (taken := self._run(action, calls)) < SAMPLE:
            calls = max(calls * 2, int(calls * SAMPLE / max(taken, 1e-7) * 0.9))
        self.calls[name] = calls
        return {"calls": calls}

    def time(self, name: str) -> dict[str, Any]:
        """Time one sample: seconds and page faults a call."""
        action, calls = self._turn_to(name), self.calls[name]
        if name not in self.long:
            action()  # what the last library left in the caches is not this one's
        before = faults()
        seconds = self._run(action, calls)
        return {"seconds": seconds / calls, "faults": (faults() - before) / calls}

    def _run(self, action: Callable[[], Any], calls: int) -> float:
        start = self.clock()
        for _ in range(calls):
            action()
        return self.clock() - start


def main() -> None:
    """Serve until the input ends."""
    library, threads, clock = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    answers, sys.stdout = sys.stdout, sys.stderr  # what a library prints is no answer
    warnings.simplefilter("ignore")
    try:
        module = importlib.import_module(f"libraries.{library}_")
        about = module.start(threads)
    except Exception as error:  # noqa: BLE001 - whatever keeps a library from starting is told
        print(
            json.dumps({"missing": f"{type(error).__name__}: {error}".splitlines()[0]}),
            file=answers,
            flush=True,
        )
        return
    print(json.dumps({"about": about, "pid": os.getpid()}), file=answers, flush=True)
    worker = Worker(module.case, time.process_time if clock == "cpu" else time.perf_counter)
    gc.enable()
    for line in sys.stdin:
        ((request, name),) = json.loads(line).items()
        try:
            answer = worker.prepare(name) if request == "prepare" else worker.time(name)
        except LookupError:
            answer = {"none": True}
        except Exception as error:  # noqa: BLE001 - told, and the run goes on without it
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
