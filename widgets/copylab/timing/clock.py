"""Time pieces of code fairly: round by round, all of them in each round, in small portions that can be stopped.

What else a machine does comes and goes over seconds. So the pieces take turns: in every round each is timed once, in
another order, and two pieces are compared within the same round. That is more than two separate timings can tell.
"""

from __future__ import annotations

import ast
import gc
import random
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType

from ..copying.methods import Method
from ..run.capture import describe_error
from ..run.run import execute

PORTION = 0.0005
"""Seconds that one run takes at least: enough for the clock, and short beside the turns of other programs."""
RUNS = 5
"""A sample is the quickest of so many runs, one right after another: whatever disturbs a run only makes it longer."""
LONG = 0.02
"""Seconds after which a sample makes do with the runs that it has: two at least."""
ROUNDS = 21
"""Enough for an interval that holds the true ratio in 99 of 100 cases, and for it to be narrow."""


@dataclass(frozen=True)
class Lane:
    """One method on one engine at one size: what is timed.

    engine: the module's name. method: the method's name. size: elements of `x`.
    """

    engine: str
    method: str
    size: int


@dataclass(frozen=True)
class Timing:
    """What came out for one lane: seconds for one run of the code, one sample for each round.

    error: what it raised instead, as `Type: message`; then there are no samples.
    """

    lane: Lane
    samples: tuple[float, ...] = ()
    error: str = ""

    @property
    def median(self) -> float:
        """Half of the samples took longer. ValueError if there are none."""
        return quantile(self.samples, 0.5)

    @property
    def quartiles(self) -> tuple[float, float]:
        """The middle half of the samples lies between these two. ValueError if there are none."""
        return quantile(self.samples, 0.25), quantile(self.samples, 0.75)


def quantile(samples: Sequence[float], part: float) -> float:
    """The value below which that part of the samples lies, between two samples by proportion."""
    if not samples:
        raise ValueError("there are no samples")
    ordered = sorted(samples)
    at = part * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


class Clocked:
    """A method ready to be timed: its code compiled into a loop, its imports done beforehand."""

    def __init__(self, method: Method, engine: ModuleType) -> None:
        tree = ast.parse(method.code)
        setup = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        body = [node for node in tree.body if node not in setup] or [ast.Pass()]
        loop = ast.parse("def timed(repeats, clock, torch, x):\n for _ in repeats: pass\n return clock() - start\n")
        function = loop.body[0]
        assert isinstance(function, ast.FunctionDef)
        repeat = function.body[0]
        assert isinstance(repeat, ast.For)
        repeat.body = body
        function.body = [*setup, *ast.parse("start = clock()").body, *function.body]
        # It runs many thousand times: nobody reads as many lines.
        names = execute(ast.unparse(ast.fix_missing_locations(loop)), engine, {"print": lambda *_, **__: None})
        self._timed: Callable[..., float] = names["timed"]
        self._engine = engine
        self.repeats = 0
        """How often the code runs in one sample; 0 until it was tried out."""

    def try_out(self, x: object) -> None:
        """Find how often the code has to run for `PORTION` seconds; raises what the code raises."""
        repeats = 1
        self.run(repeats, x)
        while (took := self.run(repeats, x)) < PORTION:
            repeats = min(repeats * 10, int(repeats * PORTION / max(took, 1e-9)) + 1)
        self.repeats = repeats

    def sample(self, x: object) -> float:
        """Seconds for one run of the code, from the quickest of `RUNS` loops; what it warns of is left unsaid."""
        if not self.repeats:
            self.try_out(x)
        start = time.perf_counter()
        times = [self.run(self.repeats, x), self.run(self.repeats, x)]
        while len(times) < RUNS and time.perf_counter() - start < LONG:
            times.append(self.run(self.repeats, x))
        return min(times) / self.repeats

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


class Timings(Mapping[Lane, Timing]):
    """The timings so far, lane by lane in the order of the plan; `take()` yields after each sample."""

    def __init__(
        self,
        methods: Sequence[Method],
        sizes: Sequence[int],
        engines: Sequence[ModuleType],
        source: Callable[[ModuleType, int], object],
        rounds: int = ROUNDS,
    ) -> None:
        self.rounds = rounds
        self._sizes, self._engines = sizes, engines
        self._samples: dict[Lane, list[float]] = {}
        self._errors: dict[Lane, str] = {}
        self._clocks: dict[Lane, Clocked] = {}
        self._source = source
        self._entries: dict[Lane, tuple[Method, ModuleType]] = {}
        for engine in engines:
            for size in sizes:
                for method in methods:
                    lane = Lane(engine.__name__, method.name, size)
                    self._samples[lane] = []
                    self._entries[lane] = method, engine

    def __getitem__(self, lane: Lane) -> Timing:
        return Timing(lane, tuple(self._samples[lane]), self._errors.get(lane, ""))

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._samples)

    def __len__(self) -> int:
        return len(self._samples)

    def take(self) -> Iterator[float]:
        """Take the samples, one between two yields; yields how much of the work is done, from 0 to 1."""
        for engine in self._engines:
            keep_memory(engine, max(self._sizes))
        lanes = list(self._samples)
        total = self.rounds * len(lanes) or 1
        for number in range(self.rounds):
            random.Random(number).shuffle(lanes)
            for at, lane in enumerate(lanes, 1):
                self._take(lane)
                yield (number * len(lanes) + at) / total

    def _take(self, lane: Lane) -> None:
        if lane in self._errors:
            return
        try:
            method, engine = self._entries[lane]
            if lane not in self._clocks:
                self._clocks[lane] = Clocked(method, engine)
            # A new x each time: one that is kept lies well or badly in memory, which made 7 % between equal methods.
            self._samples[lane].append(self._clocks[lane].sample(self._source(engine, lane.size)))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - any error of the code is a result to show
            self._errors[lane] = describe_error(error)
            self._samples[lane].clear()
