"""Time pieces of code fairly: round by round, all of them in each round, in small portions that can be stopped.

What else a machine does comes and goes over seconds. So the pieces take turns: in every round each is timed once, in
another order, and two pieces are compared within the same round. That is more than two separate timings can tell.
In each round their data lies elsewhere: a place in memory that suits one of them is gone a round later.
"""

from __future__ import annotations

import ast
import gc
import random
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from textwrap import indent
from types import ModuleType

from ..copying.methods import Method
from ..run.run import execute
from ..run.surroundings import describe_error
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
    """A method ready to be timed: its code compiled into a loop, its imports done beforehand."""

    def __init__(self, method: Method, engine: ModuleType) -> None:
        tree = ast.parse(method.code).body
        before = [node for node in tree if isinstance(node, ast.Import | ast.ImportFrom)]
        setup, body = ("\n".join(map(ast.unparse, part)) for part in (before, [n for n in tree if n not in before]))
        loop = (
            "def timed(repeats, clock, torch, x):\n"
            f"{indent(setup, ' ')}\n start = clock()\n for _ in repeats:\n{indent(body or 'pass', '  ')}\n"
            " return clock() - start\n"
        )
        # It runs many thousand times: nobody reads as many lines.
        names = execute(loop, engine, {"print": lambda *_, **__: None})
        self._timed: Callable[..., float] = names["timed"]
        self._engine = engine
        self.repeats = 1
        """How often the code runs between two looks at the clock."""

    def sample(self, x: object) -> float:
        """Seconds for one run of the code, from the quickest of `RUNS` loops; what it warns of is left unsaid.

        Raises what the code raises. A loop that turns out to be too short is made longer, in whichever round that
        shows: were its length found once, a busy moment would make all samples of a race too short, and so slower.
        """
        while (took := self._quickest(x)) < PORTION / 2:
            self.repeats = min(self.repeats * 10, int(self.repeats * PORTION / max(took, 1e-9)) + 1)
        return took / self.repeats

    def _quickest(self, x: object) -> float:
        start = time.perf_counter()
        times = [self.run(self.repeats, x), self.run(self.repeats, x)]
        while len(times) < RUNS and time.perf_counter() - start < LONG:
            times.append(self.run(self.repeats, x))
        return min(times)

    def run(self, repeats: int, x: object) -> float:
        """Seconds for the code so many times over."""
        collecting = gc.isenabled()
        with warnings.catch_warnings(), _one_thread(self._engine):
            warnings.simplefilter("ignore")
            gc.disable()
            try:
                return self._timed(range(repeats), time.perf_counter, self._engine, x)
            finally:
                if collecting:
                    gc.enable()


@contextmanager
def _one_thread(engine: ModuleType) -> Iterator[None]:
    """Without help from other threads: how long they are waited for says more about the machine than about the code."""
    before = getattr(engine, "get_num_threads", lambda: 1)()
    if before == 1:
        yield
        return
    engine.set_num_threads(1)
    try:
        yield
    finally:
        engine.set_num_threads(before)


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


class Timings:
    """The timings of a plan, lane by lane; `take()` takes the samples, and yields after each of them."""

    def __init__(self, plan: Plan, engines: Sequence[ModuleType]) -> None:
        self._plan, self._engines = plan, engines
        self._samples: dict[Lane, list[float]] = {}
        self._errors: dict[Lane, str] = {}
        self._asked: dict[Lane, tuple[Method, ModuleType]] = {}
        self._clocks: dict[Lane, Clocked] = {}
        for engine, size, method in product(engines, plan.sizes, plan.methods):
            lane = Lane(engine.__name__, method.name, size)
            self._samples[lane] = []
            self._asked[lane] = method, engine

    @property
    def taken(self) -> tuple[Timing, ...]:
        """The timings so far, in the order of the plan."""
        return tuple(Timing(lane, tuple(found), self._errors.get(lane, "")) for lane, found in self._samples.items())

    def take(self) -> Iterator[float]:
        """Take the samples, one between two yields; yields how much of the work is done, from 0 to 1."""
        for engine in self._engines:
            keep_memory(engine, max(self._plan.sizes))
        lanes = list(self._samples)
        for number in range(self._plan.rounds):
            chance = random.Random(number)
            chance.shuffle(lanes)
            for at, lane in enumerate(lanes, 1):
                if lane not in self._errors:
                    self._take(lane, chance)
                yield (number + at / len(lanes)) / self._plan.rounds

    def _take(self, lane: Lane, chance: random.Random) -> None:
        method, engine = self._asked[lane]
        try:
            if lane not in self._clocks:
                self._clocks[lane] = Clocked(method, engine)
            held = scattered(engine, lane.size, chance)
            # A new x each time: one that is kept lies well or badly in memory, which made 7 % between equal methods.
            x = self._plan.x(engine, lane.size)
            held += scattered(engine, lane.size, chance)
            self._samples[lane].append(self._clocks[lane].sample(x))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error of the code is a result to show
            self._errors[lane] = describe_error(error)
            self._samples[lane].clear()
