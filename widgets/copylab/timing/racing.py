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

from tinytorch.viz import Picture, gettext, gettext_noop

from ..copying import Method, method
from ..doc import (
    Box,
    Cell,
    Fold,
    InPage,
    InText,
    Items,
    Paragraph,
    Part,
    Table,
    html_element,
    inline_html,
    protect_marks,
)
from ..run import Stop, Stopwatch, describe_error
from ..ui import Exhibit, Panel
from . import plot
from .clock import Timings
from .plan import ROUNDS, SECONDS, Kind, Plan, planned
from .samples import Timing
from .words import cell, duel, elements, findings, in_rounds

_REDRAW, _REPORT = 1.0, 0.1  # seconds between two pictures, and between two steps of the bar

_STATES = {
    "on": gettext_noop("The race is on: {some} of {all}."),
    "": gettext_noop("Nothing is timed yet."),
    "finished": gettext_noop("The race is over: {some}."),
    "stopped": gettext_noop("Stopped after {some} of {all}. What was timed is kept."),
    "interrupted": gettext_noop("Interrupted after {some} of {all}. What was timed is kept."),
    "time": gettext_noop(
        "Stopped after {some} of {all}: the time is up (seconds={seconds}). What was timed is kept."
    ),
    "error": gettext_noop("The race could not be run: {error}"),
}


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
    return Race(planned(methods, sizes, source, engine, rounds, seconds))


class Race(Exhibit, ipywidgets.VBox):
    """A race between ways to copy. `run()` runs it; `start()` lets the notebook run it; `stop()` ends it.

    Traits to observe: `running`, `progress` (0 to 1), `results` (a Timing for each lane, plain data) and `ended`: "",
    "finished", "stopped", "time", "interrupted" or "error".
    """

    running = traitlets.Bool(False, help="Whether the race is on.")
    progress = traitlets.Float(0.0, help="How much of the race is run, from 0 to 1.")
    results: traitlets.Tuple = traitlets.Tuple(help="The timings so far, a Timing for each lane.")
    ended = traitlets.Unicode("", help="How the race ended; empty before.")

    HELP = gettext_noop("""\
race() times ways to copy a tensor against each other.

Press Start, or call r.run(). First look where a line is flat: that method copies nothing, whatever the size.
Then look at the brackets: what they join cannot be told apart, however the numbers beside the names differ.

  race(["clone", "copy_"])                            only these
  race(sizes=[1, 1000, 1000000])                      other sizes
  race(source="plain")                                x requires no grad
  race({"mine": "y = x * 1", "clone": "y = x.clone()"})   code of your own

  r.results                  a Timing for each engine, method and size: .samples in seconds, .median, .quartiles
  print(r.report)            everything in words
  r.duel("clone", "copy_")   two of them, size by size
  r.pictures["tinytorch"].save("race.svg")
  r.stop(), or the button, or interrupting the kernel: the results so far are kept""")

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._problem = ""
        self._halt = False
        self._since = 0.0  # when the portion that runs now began; 0 between portions
        self._timings: Timings | None = None
        self._task: asyncio.Task[None] | None = None
        self._loop = _running_loop()
        self.button = ipywidgets.Button(
            description=gettext("Start the race"),
            tooltip=gettext("Time the methods against each other"),
        )
        self._bar = Panel(label=gettext("Progress of the race"))
        self._shown = Panel(label=gettext("Race"), html=plan.live().html())
        super().__init__([self.button, self._bar, self._shown])
        self.button.on_click(lambda _: self.stop() if self.running else self.start())

    def __repr__(self) -> str:
        return f"Race({len(self.plan.methods)} methods, {len(self.plan.sizes)} sizes)"

    def tree(self) -> Box:
        """The plan of the race; no results, for those are never the same twice."""
        return self.plan.tree()

    @property
    def pictures(self) -> dict[str, Picture]:
        """The results as a picture for each engine that was timed, by its name."""
        span = plot.span(self.results)
        return {
            name: self._picture(name, span)
            for name in dict.fromkeys(t.lane.engine for t in self.results)
        }

    def _picture(self, name: str, span: tuple[int, int]) -> Picture:
        mine = self.of(name)
        title = gettext("Race on {engine}: time of one call.", engine=name)
        words = "\n".join([title, *findings(mine), times(name, mine).text()])
        return Picture(lambda: plot.draw(mine, name, span), lambda: words)

    def of(self, engine: str) -> list[Timing]:
        """The results of one engine, by its name."""
        return [timing for timing in self.results if timing.lane.engine == engine]

    @property
    def report(self) -> str:
        """The results in words: all times, and what can be said for certain."""
        return self._found().text()

    def duel(self, one: str, other: str) -> str:
        """Two methods against each other, in a sentence for each engine: where one is quicker, where nobody can tell.

        Raises ValueError for a method that is not in the race.
        """
        names = [entry.name for entry in self.plan.methods]
        one, other = (name if name in names else method(name).name for name in (one, other))
        return "\n".join(f"{name}: {duel(self.of(name), one, other)}" for name in self.pictures)

    # What is shown

    def _found(self) -> Box:
        """The results so far."""
        pictures = self.pictures
        timed = any(timing.samples for timing in self.results)
        shown = [
            _figure(one, [] if self.running else self.of(name)) for name, one in pictures.items()
        ]
        tables = [_scrolling(name, times(name, self.of(name))) for name in pictures]
        return Box(
            Paragraph(protect_marks(self._state()), kind="cl-title"),
            InPage(Box(*(shown if timed else [_findings(self.results)]), kind="cl-beside")),
            InText(*(Paragraph(protect_marks(one.text)) for one in pictures.values()), apart=True),
            InPage(Fold(gettext("All times"), *tables, data_keep="times")) if timed else None,
            InPage(self.plan.fold()),
            apart=True,
        )

    def _state(self) -> str:
        """Whether the race is over, and with how many rounds."""
        rounds = max((len(timing.samples) for timing in self.results), default=0)
        said = gettext(_STATES["on" if self.running else self.ended])
        seconds = f"{self.plan.seconds:g}"
        return said.format(
            some=in_rounds(rounds),
            all=f"{self.plan.rounds:,}",
            seconds=seconds,
            error=self._problem,
        )

    def _show_bar(self) -> None:
        done = round(100 * self.progress)
        ready = gettext("Getting ready: a cell that is running comes first")
        bar = html_element(
            "progress", aria_label=gettext("Progress of the race"), max=100, value=done
        )
        self._bar.html = html_element(
            "div",
            bar + html_element("span", f"{done} %" if done else inline_html(ready)),
            class_="cl-bar",
        )

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
        since = self._since
        if (
            since
            and threading.current_thread() is not threading.main_thread()
            and hasattr(signal, "pthread_kill")
        ):
            rest = since + 0.3 - time.monotonic()  # most portions end by themselves
            threading.Timer(max(rest, 0.0), self._break_off, (since,)).start()

    def _break_off(self, since: float) -> None:
        """Interrupt the portion that began then, if it still runs."""
        if self._since == since:
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
        self.button.description = gettext("Stop")
        self._show_bar()
        self._shown.says = gettext("The race is on.")

    def _laps(self) -> Generator[None]:
        """The race, in portions: one between two yields."""
        ended = "stopped"
        try:
            with Stopwatch(self.plan.seconds) as watch:
                self._timings = Timings(self.plan, self.plan.found_engines())
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

    def _portions(self, timings: Timings, watch: Stopwatch) -> Iterator[None]:
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
                self._show_bar()
            if now - drawn > _REDRAW:
                drawn, self.results = now, timings.taken
                self._shown.html = self._found().html()
            yield

    def _finish(self, ended: str) -> None:
        self._since = 0.0
        if self._timings is not None:
            self.results = self._timings.taken
            self._timings = None
        if ended == "finished":
            self.progress = 1.0
        self.ended = ended
        self.set_trait("running", False)
        self.button.description = gettext("Race again")
        self._bar.html = ""
        said = [
            gettext(
                "On {engine}: {findings}", engine=name, findings=" ".join(findings(self.of(name)))
            )
            for name in self.pictures
        ]
        self._shown.show(self._found().html(), " ".join([self._state(), *said]))


def _figure(picture: Picture, timings: Sequence[Timing]) -> Part:
    scrolls = {"tabindex": 0, "role": "group", "aria_label": gettext("Picture")}
    return InPage(
        html_element(
            "figure",
            html_element("div", picture.svg, class_="cl-holder", **scrolls)
            + _findings(timings).html(),
        )
    )


def _findings(timings: Sequence[Timing]) -> Items:
    return Items(map(protect_marks, findings(timings)), kind="cl-says")


def _scrolling(name: str, table: Table) -> Box:
    label = gettext("All times on {engine}", engine=name)
    return Box(table, kind="cl-scroll", tabindex=0, role="region", aria_label=label)


def times(name: str, timings: Sequence[Timing]) -> Table:
    """All timings of one engine."""
    sizes = sorted({one.lane.size for one in timings})
    rows: dict[str, list[Cell | str]] = {}
    for one in timings:
        method = protect_marks(one.lane.method)
        rows.setdefault(method, [Cell(method, short=f"`{method}`", head=True)]).append(cell(one))
    head: list[Cell | str] = [
        gettext("elements"),
        *(Cell(elements(size), short=f"{size:,}") for size in sizes),
    ]
    caption = gettext("**{engine}**: median, and the middle half of the rounds", engine=name)
    return Table(head, rows.values(), caption=caption, told="rows", breaks=range(2, len(head)))


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
