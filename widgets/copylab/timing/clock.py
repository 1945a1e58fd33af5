"""Time pieces of code fairly: round by round, all of them in each round, in small portions that can be stopped.

What else a machine does comes and goes over seconds. So the pieces take turns: in every round each is timed once, in
another order, and two pieces are compared within the same round. That is more than two separate timings can tell.
In each round their data lies elsewhere: a place in memory that suits one of them is gone a round later.
"""

from __future__ import annotations

import ast
import random
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from timeit import Timer
from types import ModuleType

from ..copying import Method
from ..run import describe_error, make_builtins
from .plan import Plan
from .samples import Lane, Timing

PORTION = 0.0005
"""Seconds that one run takes at least: enough for the clock, and short beside the turns of other programs."""
RUNS = 5
"""A sample is the quickest of so many runs, one right after another: whatever disturbs a run only makes it longer."""
LONG = 0.02
"""Seconds after which a sample makes do with the runs that it has: two at least."""
APART = 1 << 20
"""The most elements by which memory is moved from round to round: 4 MB, beyond what any cache or page repeats."""


class Clocked:
    """A method ready to be timed: its code compiled into a loop, its imports done before that."""

    def __init__(self, method: Method, engine: ModuleType) -> None:
        tree = ast.parse(method.code).body
        before = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
        setup, body = (
            "\n".join(map(ast.unparse, part))
            for part in (before, [n for n in tree if n not in before])
        )
        # It runs many thousand times: nobody reads as many lines.
        silent = make_builtins(engine, stepped=False) | {"print": lambda *_, **__: None}
        self._engine, self._names = engine, {"engine": engine, "__builtins__": silent}
        self._timer = Timer(
            body or "pass", f"torch, x = engine, given\n{setup}", time.perf_counter, self._names
        )
        self.repeats = 1
        """How often the code runs between two looks at the clock."""

    def sample(self, x: object) -> float:
        """Seconds for one run of the code, from the quickest of `RUNS` loops; what it warns of is left unsaid.

        Raises what the code raises. A loop that turns out to be too short is made longer, in whichever round that
        shows: were its length found once, a busy moment would make all samples of a race too short, and so slower.
        """
        self._names["given"] = x
        try:
            with _undisturbed(self._engine):
                while (took := self._quickest()) < PORTION / 2:
                    self.repeats = min(
                        self.repeats * 10, int(self.repeats * PORTION / max(took, 1e-9)) + 1
                    )
        finally:
            del self._names["given"]
        return took / self.repeats

    def _quickest(self) -> float:
        start, times = time.perf_counter(), list[float]()
        while len(times) < 2 or (len(times) < RUNS and time.perf_counter() - start < LONG):
            times.append(self._timer.timeit(self.repeats))
        return min(times)


@contextmanager
def _undisturbed(engine: ModuleType) -> Iterator[None]:
    """Without warnings, and without help from other threads, which are waited for as long as the machine likes."""
    threads = getattr(engine, "get_num_threads", lambda: 1)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if threads == 1:
            yield
            return
        engine.set_num_threads(1)
        try:
            yield
        finally:
            engine.set_num_threads(threads)


def keep_memory(engine: ModuleType, size: int) -> None:
    """Have the C library keep freed memory of this size, where it is one that learns from what is freed.

    Otherwise some pieces of code get each result's memory from the system anew, page by page, and others not, by luck
    of the order in which memory was used: with glibc that made the same copy of 4 MB four times as slow.
    """
    engine.empty(min(4 * size, 1 << 23))  # glibc takes no more than 32 MB for an example


def scattered(engine: ModuleType, size: int, chance: random.Random) -> list[object]:
    """Memory that, as long as it is held, makes what is made next lie elsewhere than the last time.

    Blocks of the size itself, for the C library gives a block that was freed to the next that asks for its size; and
    one of any size, which moves all that comes after it.
    """
    same = [size] * chance.randrange(1 + min(31, 3 * APART // size))
    return [engine.empty(one) for one in (*same, chance.randrange(1, min(size + 1024, APART) + 1))]


class _Runner:
    """One lane of a race, with the samples that were taken so far."""

    def __init__(self, engine: ModuleType, method: Method, size: int) -> None:
        self.engine, self.method, self.lane = (
            engine,
            method,
            Lane(engine.__name__, method.name, size),
        )
        self.samples: list[float] = []
        self.error = ""
        self._clocked: Clocked | None = None

    def take(self, plan: Plan, chance: random.Random) -> None:
        """Take a sample, or note the error that it raises."""
        engine, size = self.engine, self.lane.size
        try:
            self._clocked = self._clocked or Clocked(self.method, engine)
            held = scattered(engine, size, chance)
            # A new x each time: one that is kept lies well or badly in memory, which made 7 % between equal methods.
            x = plan.x(engine, size)
            held += scattered(engine, size, chance)
            self.samples.append(self._clocked.sample(x))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error of the code is a result to show
            self.error, self.samples = describe_error(error), []


class Timings:
    """The timings of a plan, lane by lane; `take()` takes the samples, and yields after each of them."""

    def __init__(self, plan: Plan, engines: Sequence[ModuleType]) -> None:
        self._plan, self._engines = plan, engines
        self._runners = [
            _Runner(engine, method, size)
            for engine, size, method in product(engines, plan.sizes, plan.methods)
        ]

    @property
    def taken(self) -> tuple[Timing, ...]:
        """The timings so far, in the order of the plan."""
        return tuple(Timing(one.lane, tuple(one.samples), one.error) for one in self._runners)

    def take(self) -> Iterator[float]:
        """Take the samples, one between two yields; yields how much of the work is done, from 0 to 1."""
        for engine in self._engines:
            keep_memory(engine, max(self._plan.sizes))
        runners = list(self._runners)
        for number in range(self._plan.rounds):
            chance = random.Random(number)
            chance.shuffle(runners)
            for at, one in enumerate(runners, 1):
                if not one.error:
                    one.take(self._plan, chance)
                yield (number + at / len(runners)) / self._plan.rounds
