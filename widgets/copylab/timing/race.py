"""`race()`: time ways to copy against each other, over sizes and engines, and say what is certain about the result."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from types import ModuleType

import ipywidgets
import traitlets

from tinytorch.viz.draw.picture import Picture

from ..copying.methods import Method, method
from ..run.capture import describe_error
from ..run.limits import Stop, Watch
from ..run.run import execute
from ..ui.exhibit import Exhibit, Panel
from . import plot as raceplot
from . import views as raceviews
from .clock import ROUNDS, Timing, Timings
from .entry import SECONDS, Kind, chosen_engines, chosen_methods, chosen_sizes, chosen_source, installed_engines
from .text import duel, findings, table

_REDRAW, _REPORT = 1.0, 0.1  # seconds between two pictures, and between two steps of the bar


def race(
    methods: Sequence[str | Method] | Mapping[str, str] | None = None,
    sizes: Iterable[int] | None = None,
    source: Kind = "leaf",
    engine: ModuleType | Sequence[ModuleType] | None = None,
    *,
    rounds: int = ROUNDS,
    seconds: float = SECONDS,
) -> Race:
    """Time ways to copy against each other; nothing is timed before Start is pressed or `.run()` is called.

    methods: names such as "clone", or a mapping from names of your own to code that makes `y` from `x`.
    sizes: numbers of float32 elements that x has, 1 to 100,000,000.
    source: whether x is a "leaf" that requires grad, the "result" of an operation on one, or "plain".
    engine: the module to time, or several; by default tinytorch and, where it is installed, PyTorch.
    rounds: how often each is timed, always one after the other. seconds: the race ends there at the latest.

    Returns a Race. In a notebook it has a button, a bar, and a picture that grows while the race runs.

    Raises ValueError for an unknown method or source, a size or limit that cannot be, and code that is not Python;
    TypeError for what is no engine.
    """
    return Race(methods, sizes, source, engine, rounds=rounds, seconds=seconds)


class Race(Exhibit, ipywidgets.VBox):
    """A race between ways to copy. `run()` runs it; `start()` lets the notebook run it; `stop()` ends it.

    Traits to observe: `running`, `progress` (0 to 1), `results` (a Timing for each lane, plain data) and `ended`: "",
    "finished", "stopped", "time", "interrupted" or "error".
    """

    running = traitlets.Bool(False, help="Whether the race is on.")
    progress = traitlets.Float(0.0, help="How much of the race is run, from 0 to 1.")
    results: traitlets.Tuple = traitlets.Tuple(help="The timings so far, a Timing for each lane.")
    ended = traitlets.Unicode("", help="How the race ended; empty before.")

    def __init__(
        self,
        methods: Sequence[str | Method] | Mapping[str, str] | None = None,
        sizes: Iterable[int] | None = None,
        source: Kind = "leaf",
        engine: ModuleType | Sequence[ModuleType] | None = None,
        *,
        rounds: int = ROUNDS,
        seconds: float = SECONDS,
    ) -> None:
        self.methods = chosen_methods(methods)
        self.sizes = chosen_sizes(sizes)
        self.setup = chosen_source(source)
        """The line or lines that make x; `{size}` stands for the number of elements."""
        if not isinstance(rounds, int) or rounds < 1 or not seconds > 0:
            raise ValueError(f"the limits must be positive, not rounds={rounds} and seconds={seconds}")
        self.source, self.rounds, self.seconds = source, rounds, seconds
        self._engines = chosen_engines(engine)
        self._problem = ""
        self._halt = False
        self._since = 0.0  # when the portion that runs now began; 0 between portions
        self._timings: Timings | None = None
        self._task: asyncio.Task[None] | None = None
        self._loop = _running_loop()
        self.button = ipywidgets.Button(description=raceviews.START, tooltip="Time the methods against each other")
        self._bar = Panel(label="Progress of the race")
        self._shown = Panel(label="Race", html=raceviews.plan(self))
        super().__init__([self.button, self._bar, self._shown])
        self.button.on_click(lambda _: self.stop() if self.running else self.start())

    def __repr__(self) -> str:
        return f"Race({len(self.methods)} methods, {len(self.sizes)} sizes)"

    @property
    def engine_names(self) -> tuple[str, ...]:
        """The engines that were chosen, by name; empty for tinytorch and, where it is installed, PyTorch."""
        return tuple(engine.__name__ for engine in self._engines)

    @property
    def text(self) -> str:
        """The plan of the race in words; no results, for those are never the same twice."""
        return raceviews.plan_text(self)

    @property
    def html(self) -> str:
        """The plan of the race as HTML."""
        return raceviews.plan(self, live=False)

    @property
    def pictures(self) -> dict[str, Picture]:
        """The results as a picture for each engine that was timed, by its name."""
        span = raceplot.span(self.results)
        return {name: self._picture(name, span) for name in dict.fromkeys(t.lane.engine for t in self.results)}

    def _picture(self, name: str, span: tuple[int, int]) -> Picture:
        mine = self.of(name)
        words = "\n".join([f"Race on {name}: time of one call.", table(mine), *findings(mine)])
        return Picture(lambda theme: raceplot.draw(mine, name, span, theme), lambda: words)

    def of(self, engine: str) -> list[Timing]:
        """The results of one engine, by its name."""
        return [timing for timing in self.results if timing.lane.engine == engine]

    @property
    def report(self) -> str:
        """The results in words: all times, and what can be said for certain."""
        parts = [raceviews.how_it_ended(self)]
        parts += [picture.text for picture in self.pictures.values()]
        return "\n\n".join(parts)

    def duel(self, one: str, other: str) -> str:
        """Two methods against each other, in a sentence for each engine: where one is quicker, where nobody can tell.

        Raises ValueError for a method that is not in the race.
        """
        names = [entry.name for entry in self.methods]
        one, other = (name if name in names else method(name).name for name in (one, other))
        return "\n".join(f"{name}: {duel(self.of(name), one, other)}" for name in self.pictures)

    def help(self) -> None:
        """Print what to try first."""
        print(raceviews.HELP)

    def run(self) -> Race:
        """Run the race now, and come back when it is over; an interrupt ends it, and keeps the results so far."""
        self._open()
        for _ in self._laps():
            pass
        return self

    def start(self) -> None:
        """Run the race in portions, between which the notebook goes on; without a notebook the same as `run()`."""
        if self.running:
            return
        loop = self._loop if self._loop is not None and self._loop.is_running() else _running_loop()
        if loop is None:
            self.run()
            return
        self._open()
        # The click may come in on another thread than the one on which the notebook's cells run and signals arrive.
        loop.call_soon_threadsafe(self._begin, loop)

    def stop(self) -> None:
        """End the race and keep the results so far."""
        if not self.running:
            return
        self._halt = True
        stuck = self._since and time.monotonic() - self._since > 0.3
        if stuck and threading.current_thread() is not threading.main_thread() and hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    def close(self) -> None:
        """Stop, and take the widget off the page."""
        self.stop()
        super().close()

    def _begin(self, loop: asyncio.AbstractEventLoop) -> None:
        self._task = loop.create_task(self._go())

    async def _go(self) -> None:
        laps = self._laps()
        try:
            for _ in laps:
                await asyncio.sleep(0)  # whatever the notebook has to do meanwhile: a Stop, a cell
        finally:
            laps.close()

    def _open(self) -> None:
        """Show that the race is on."""
        if self.running:
            raise RuntimeError("this race is already on: stop() ends it")
        self._halt = False
        self.set_trait("running", True)
        self.ended, self.progress, self.results = "", 0.0, ()
        self.button.description = raceviews.STOP
        self._bar.html = raceviews.bar(self)
        self._shown.says = "The race is on."

    def _laps(self) -> Generator[None]:
        """The race, in portions: one between two yields."""
        ended = "stopped"
        try:
            with Watch(self.seconds) as watch:
                self._timings = Timings(self.methods, self.sizes, self._found_engines(), self._make, self.rounds)
                yield from self._portions(self._timings, watch)
                ended = "stopped" if self._halt else "finished"
        except Stop:
            ended = "time"
        except KeyboardInterrupt:
            ended = "stopped" if self._halt else "interrupted"
        except (Exception, SystemExit) as error:  # noqa: BLE001 - shown in the place of the results
            ended, self._problem = "error", describe_error(error)
        finally:
            self._finish(ended)

    def _portions(self, timings: Timings, watch: Watch) -> Iterator[None]:
        portions = timings.take()
        reported = drawn = time.monotonic()
        while not self._halt:
            self._since = time.monotonic()
            watch.busy = False
            done = next(portions, None)
            watch.busy = True
            self._since = 0.0
            watch.check()
            if done is None:
                return
            now = time.monotonic()
            if now - reported > _REPORT:
                reported, self.progress = now, done
                self._bar.html = raceviews.bar(self)
            if now - drawn > _REDRAW:
                drawn, self.results = now, tuple(timings.values())
                self._shown.html = raceviews.results(self)
            yield

    def _finish(self, ended: str) -> None:
        self._since = 0.0
        if self._timings is not None:
            self.results = tuple(self._timings.values())
            self._timings = None
        if ended == "finished":
            self.progress = 1.0
        self.ended = ended
        self.set_trait("running", False)
        self.button.description = raceviews.AGAIN
        self._bar.html = ""
        self._shown.html = raceviews.results(self)
        self._shown.says = " ".join([raceviews.how_it_ended(self), *raceviews.spoken(self)])

    def _make(self, engine: ModuleType, size: int) -> object:
        return execute(self.setup.format(size=size), engine)["x"]

    def _found_engines(self) -> tuple[ModuleType, ...]:
        return self._engines or installed_engines()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
