"""`race()`: time ways to copy a tensor, and say which of them cannot be told apart.

In reading order: what is timed (`race`, `Race`), how a sample is taken (`Lane`), what a row of
samples allows to say (`Timing`, `is_slower`, `find_ties`), and how it is shown (table and plot).

What else a machine does comes and goes over seconds. So the ways to copy take turns: in each round
each of them is timed once, in a new order, and two of them are compared within the same rounds.
"""

from __future__ import annotations

import ast
import importlib
import itertools
import math
import random
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from timeit import Timer
from types import ModuleType
from typing import Any, Literal

from tinytorch.viz import Canvas, Picture, colour, join_names, summarize_text, text_width

from .copying import Method, method
from .doc import (
    Box,
    Cell,
    Code,
    InPage,
    Items,
    Paragraph,
    Presentation,
    Table,
    html_element,
    protect_marks,
)
from .installed import is_installed
from .run import (
    Stop,
    Stopwatch,
    compile_program,
    describe_error,
    execute_program,
    make_builtins,
    require_engine,
)
from .ui import panel_style_sheet
from .wording import gettext, gettext_noop, join_list, join_sentences, ngettext

METHODS = (
    "detach",
    "clone",
    "detach().clone()",
    "clone().detach()",
    "copy_",
    "new_tensor",
    "torch.tensor",
)
SIZES = (1, 10, 100, 1_000, 10_000, 100_000, 1_000_000)
LARGEST_SIZE = 100_000_000
SOURCES: Mapping[str, str] = {
    "leaf": "x = torch.ones({size}, requires_grad=True)",
    "result": "a = torch.ones({size}, requires_grad=True)\nx = a * 2",
    "plain": "x = torch.ones({size})",
}
"""The lines that make x, by the name of the source."""

MIN_RUN_SECONDS = 0.0005
"""Minimum length of one run: enough for the clock, short beside the turns of other programs."""
RUNS_PER_SAMPLE = 5
"""A sample is the quickest of these runs: whatever disturbs a run only makes it longer."""
LONG_SAMPLE_SECONDS = 0.02
"""After this time a sample makes do with the runs it has, two at least."""
MAX_SHIFT = 1 << 20
"""Maximum number of elements by which memory moves between rounds: 4 MB, beyond any cache."""

CONFIDENCE = 0.99
"""Of the interval of a ratio. At the usual 0.95, chance would speak in each table of many pairs."""
SMALLEST_RATIO = 1.03
"""Equal methods were measured up to 3 % apart, by the place of their code and memory alone."""

_ENDINGS = {
    "": gettext_noop("Nothing is timed yet."),
    "finished": gettext_noop("The race is over: {some}."),
    "time": gettext_noop(
        "Stopped after {some} of {all}: the time is up (seconds={seconds}). What was timed is kept."
    ),
    "interrupted": gettext_noop("Interrupted after {some} of {all}. What was timed is kept."),
}


def race(
    methods: Sequence[str | Method] | Mapping[str, str] | None = None,
    sizes: Iterable[int] | None = None,
    source: Literal["leaf", "result", "plain"] = "leaf",
    engine: ModuleType | Sequence[ModuleType] | None = None,
    *,
    rounds: int = 21,
    seconds: float = 60.0,
) -> Race:
    """Plan to time ways to copy against each other; nothing is timed before `.run()` is called.

    methods: names such as "clone", or a mapping from names of your own to code that makes `y` from
        `x`.
    sizes: numbers of float32 elements that x has, 1 to 100,000,000.
    source: "leaf" (x requires grad), "result" (of an operation on a leaf) or "plain".
    engine: the module to time, or several; by default tinytorch and, where installed, PyTorch.
    rounds: how often each is timed. seconds: the race ends there at the latest.

    Raises ValueError for an unknown method or source, a size or limit that cannot be, and code that
    is not Python; TypeError for an engine that is not one.
    """
    if source not in SOURCES:
        raise ValueError(f"source must be 'leaf', 'result' or 'plain', not {source!r}")
    if not isinstance(rounds, int) or rounds < 1 or not seconds > 0:
        raise ValueError(f"the limits must be positive, not rounds={rounds} and seconds={seconds}")
    modules = engine if isinstance(engine, list | tuple) else (engine,)
    engines = dict.fromkeys(module for module in map(require_engine, modules) if module is not None)
    return Race(
        _find_methods(methods), _check_sizes(sizes), source, tuple(engines), rounds, seconds
    )


def _find_methods(
    methods: Sequence[str | Method] | Mapping[str, str] | None,
) -> tuple[Method, ...]:
    if isinstance(methods, Mapping):
        entries = [Method(name, code) for name, code in methods.items()]
    elif isinstance(methods, str | Method):
        entries = [method(methods)]
    else:
        entries = [method(name) for name in (METHODS if methods is None else methods)]
    if not entries:
        raise ValueError("a race needs a method")
    for entry in entries:
        try:
            compile_program(entry.code)
        except SyntaxError as error:
            raise ValueError(f"the code of {entry.name!r} is not Python: {error}") from None
    return tuple({entry.name: entry for entry in entries}.values())


def _check_sizes(sizes: Iterable[int] | None) -> tuple[int, ...]:
    if sizes is None:
        return SIZES
    numbers = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    for size in numbers:
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST_SIZE:
            raise ValueError(
                f"a size is a number of elements from 1 to {LARGEST_SIZE:,}, not {size!r}"
            )
    if not numbers:
        raise ValueError("a race needs a size")
    return tuple(sorted(set(numbers)))


@dataclass(frozen=True)
class Timing:
    """The samples of one method on one engine at one size.

    engine: the module's name. method: the method's name. size: number of elements of x.
    samples: seconds for one run of the code, one for each round.
    error: what the code raised instead, as `Type: message`; then there are no samples.
    """

    engine: str
    method: str
    size: int
    samples: tuple[float, ...] = ()
    error: str = ""

    def __repr__(self) -> str:
        result = f"error={self.error!r}" if self.error else f"{len(self.samples)} samples"
        return summarize_text(f"Timing({self.engine!r}, {self.method!r}, {self.size}, {result})")

    @property
    def median(self) -> float:
        """The middle sample, in seconds. Raises ValueError if there are none."""
        return median(self.samples)


class Race(Presentation):
    """A race between ways to copy. `run()` runs it; the table and the plot are there afterwards.

    results: a Timing for each engine, size and method. ended: "" before it was run, then
    "finished", "time" (the limit `seconds` was reached) or "interrupted".
    """

    def __init__(
        self,
        methods: tuple[Method, ...],
        sizes: tuple[int, ...],
        source: str,
        engines: tuple[ModuleType, ...],
        rounds: int,
        seconds: float,
    ) -> None:
        self.methods = methods
        self.sizes = sizes
        self.source = source
        self.engines = engines
        self.rounds = rounds
        self.seconds = seconds
        self.results: tuple[Timing, ...] = ()
        self.ended = ""

    def __repr__(self) -> str:
        return f"Race({len(self.methods)} methods, {len(self.sizes)} sizes)"

    def run(self) -> Race:
        """Run the race; an interrupt ends it. Either way the results so far are in `results`."""
        engines = self.engines or _find_installed_engines()
        lanes = [
            Lane(engine, entry, size, self.source)
            for engine, size, entry in itertools.product(engines, self.sizes, self.methods)
        ]
        self.results = ()
        try:
            with Stopwatch(self.seconds) as stopwatch:
                for engine in engines:
                    _keep_freed_memory(engine, max(self.sizes))
                self._run_rounds(lanes, stopwatch)
            self.ended = "finished"
        except Stop:
            self.ended = "time"
        except KeyboardInterrupt:
            self.ended = "interrupted"
        finally:
            self.results = tuple(lane.timing for lane in lanes)
        return self

    def _run_rounds(self, lanes: list[Lane], stopwatch: Stopwatch) -> None:
        order = list(lanes)
        for number in range(self.rounds):
            # A generator of its own: the numbers of the session go on as if there were no race.
            chance = random.Random(number)
            chance.shuffle(order)
            for lane in order:
                # Only code that is timed may be interrupted.
                stopwatch.busy = False
                if not lane.error:
                    lane.take_sample(chance)
                stopwatch.busy = True
                stopwatch.check()

    @property
    def report(self) -> str:
        """The results in words: all times, and which of them cannot be told apart."""
        return self._result_tree().text()

    @property
    def pictures(self) -> dict[str, Picture]:
        """The plot of each engine that was timed, by the engine's name."""
        return {name: self._draw_picture(name) for name in self._engine_names()}

    def tree(self) -> Box:
        """The results, or the plan before there are any."""
        return self._result_tree() if self.ended else self._plan_tree()

    def _plan_tree(self) -> Box:
        rows: list[list[Cell | str]] = []
        for entry in self.methods:
            code = Cell(protect_marks("; ".join(entry.code.splitlines())), part=Code(entry.code))
            rows.append([protect_marks(entry.name), code])
        source = "; ".join(SOURCES[self.source].replace("{size}", "size").splitlines())
        names = [engine.__name__ for engine in self.engines]
        # The default is said so, and not what is installed: a notebook's stored output is compared.
        engines = join_names(names) or gettext("tinytorch, and on PyTorch where it is installed")
        limits = gettext(
            "{rounds}, at most {seconds} seconds.",
            rounds=_count_rounds(self.rounds),
            seconds=f"{self.seconds:g}",
        )
        procedure = gettext(
            "In each round every method is timed once at every size, in another order, on one "
            "thread. A time is the quickest of five runs one after another; the median over the "
            "rounds is shown. Two methods are told apart if one took over 3 % longer in the same "
            "rounds, certain in 99 of 100 cases."
        )
        facts = (
            gettext("x is made by: {code}", code=source),
            gettext("Sizes: {sizes} elements.", sizes=join_list(f"{n:,}" for n in self.sizes)),
            gettext("Engines: {engines}.", engines=engines),
            join_sentences([limits, procedure]),
            gettext(
                ".run() takes the times. They differ each time, so the plan does not show them."
            ),
        )
        title = Paragraph(gettext("**Race: {race}**", race=self._describe_size()))
        return Box(title, Table((), rows), Box(*map(Paragraph, facts)), spaced=True)

    def _describe_size(self) -> str:
        methods = ngettext("{number} way to copy", "{number} ways to copy", len(self.methods))
        sizes = ngettext("{number} size", "{number} sizes", len(self.sizes))
        smallest, largest = self.sizes[0], self.sizes[-1]
        if len(self.sizes) == 1:
            return gettext(
                "{ways}, at {sizes} with {elements}",
                ways=methods,
                sizes=sizes,
                elements=_count_elements(largest),
            )
        return gettext(
            "{ways}, at {sizes} from {first} to {last} elements",
            ways=methods,
            sizes=sizes,
            first=f"{smallest:,}",
            last=f"{largest:,}",
        )

    def _result_tree(self) -> Box:
        rounds = max((len(timing.samples) for timing in self.results), default=0)
        ending = gettext(_ENDINGS[self.ended]).format(
            some=_count_rounds(rounds), all=f"{self.rounds:,}", seconds=f"{self.seconds:g}"
        )
        parts = []
        for name, picture in self.pictures.items():
            figure = html_element("figure", html_element("div", picture.svg, class_="cl-holder"))
            parts += [InPage(html_element("div", figure)), *self._engine_parts(name)]
        return Box(
            InPage(html_element("style", panel_style_sheet())),
            Paragraph(protect_marks(ending), class_="cl-title"),
            *parts,
            spaced=True,
            class_="cl-panel",
        )

    def _engine_parts(self, engine: str) -> tuple[Table, Items]:
        timings = [timing for timing in self.results if timing.engine == engine]
        remarks = Items(map(protect_marks, describe_timings(timings)), class_="cl-says")
        return make_table(engine, timings), remarks

    def _engine_names(self) -> list[str]:
        return list(dict.fromkeys(timing.engine for timing in self.results))

    def _draw_picture(self, engine: str) -> Picture:
        timings = [timing for timing in self.results if timing.engine == engine]
        words = "\n".join(part.text() for part in self._engine_parts(engine))
        return Picture(lambda: draw_plot(timings, engine), lambda: words)


def _find_installed_engines() -> tuple[ModuleType, ...]:
    names = [name for name in ("tinytorch", "torch") if is_installed(name)]
    return tuple(map(importlib.import_module, names))


# -- how a sample is taken ---------------------------------------------------------------


class Lane:
    """One method on one engine at one size, with the samples taken so far."""

    def __init__(self, engine: ModuleType, method: Method, size: int, source: str) -> None:
        self.engine = engine
        self.method = method
        self.size = size
        self.source = SOURCES[source].format(size=size)
        self.samples: list[float] = []
        self.error = ""
        self.calls_per_run = 1
        self._names: dict[str, Any] = {"engine": engine, "__builtins__": _silent_tools(engine)}
        self._timer: Timer | None = None

    @property
    def timing(self) -> Timing:
        """The samples so far, as plain data."""
        return Timing(
            self.engine.__name__, self.method.name, self.size, tuple(self.samples), self.error
        )

    def take_sample(self, chance: random.Random) -> None:
        """Take a sample, or note the error that the code raises."""
        try:
            if self._timer is None:
                self._timer = self._compile_timer()
            blocks = _shift_memory(self.engine, self.size, chance)
            # A new x for each sample: one that was kept had its place in memory for a whole race,
            # which alone made 7 % between equal methods.
            self._names["source"] = execute_program(self.source, self.engine)["x"]
            blocks += _shift_memory(self.engine, self.size, chance)
            with _undisturbed_by_threads(self.engine):
                self.samples.append(self._measure_call(self._timer))
        # Not BaseException: an interrupt and the Stop of the stopwatch end the whole race.
        except (Exception, SystemExit) as error:  # noqa: BLE001 - an error of the code is a result
            self.error, self.samples = describe_error(error), []
        finally:
            self._names.pop("source", None)

    def _compile_timer(self) -> Timer:
        """Compile the method's code into a loop. Its imports come before the loop."""
        statements = ast.parse(self.method.code).body
        is_import = [isinstance(node, ast.Import | ast.ImportFrom) for node in statements]
        imports = itertools.compress(statements, is_import)
        body = [node for node in statements if not isinstance(node, ast.Import | ast.ImportFrom)]
        # Each sample has a new `source`; the setup, which runs before each timing, takes it from
        # there.
        setup = "\n".join(["torch, x = engine, source", *map(ast.unparse, imports)])
        return Timer(
            "\n".join(map(ast.unparse, body)) or "pass", setup, time.perf_counter, self._names
        )

    def _measure_call(self, timer: Timer) -> float:
        """Return the seconds of one call, from the quickest of several runs."""
        # The number of calls grows in any round in which a run is too short. Found once, at a
        # moment when the machine was busy, it made one of two equal methods 1.3 times as slow.
        while (seconds := self._run_quickest(timer)) < MIN_RUN_SECONDS / 2:
            # A clock that did not tick in between gives 0 seconds.
            needed = int(self.calls_per_run * MIN_RUN_SECONDS / max(seconds, 1e-9)) + 1
            self.calls_per_run = min(self.calls_per_run * 10, needed)
        return seconds / self.calls_per_run

    def _run_quickest(self, timer: Timer) -> float:
        start = time.perf_counter()
        runs: list[float] = []
        while len(runs) < 2 or (
            len(runs) < RUNS_PER_SAMPLE and time.perf_counter() - start < LONG_SAMPLE_SECONDS
        ):
            runs.append(timer.timeit(self.calls_per_run))
        # The quickest, as all that can disturb a run makes it longer.
        return min(runs)


def _silent_tools(engine: ModuleType) -> dict[str, Any]:
    """Return the builtins of code that is timed. It runs thousands of times: nothing is printed."""
    return dict(make_builtins(engine, stepped=False)) | {"print": lambda *_, **__: None}


@contextmanager
def _undisturbed_by_threads(engine: ModuleType) -> Iterator[None]:
    """Let an engine compute on one thread: waiting for several is the machine's doing."""
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


def _keep_freed_memory(engine: ModuleType, size: int) -> None:
    """Have the C library keep freed blocks of this size, if it learns from what is freed.

    Otherwise some methods get each result's memory from the system anew, page by page, and others
    not, by the order in which memory was used: glibc made the same copy of 4 MB take 4 times as
    long.
    """
    # glibc learns from blocks of up to 32 MB.
    engine.empty(min(4 * size, 1 << 23))


def _shift_memory(engine: ModuleType, size: int, chance: random.Random) -> list[object]:
    """Return memory that, while it is held, moves what is allocated next.

    The C library gives a freed block to the next request of its size, so there are blocks of the
    size itself; one of any size moves all that comes after.
    """
    blocks = [size] * chance.randrange(1 + min(31, 3 * MAX_SHIFT // size))
    blocks.append(chance.randrange(1, min(size + 1024, MAX_SHIFT) + 1))
    return [engine.empty(block) for block in blocks]


# -- what samples allow to say -----------------------------------------------------------


def is_slower(slow: Timing, fast: Timing) -> bool:
    """Return True if `slow` certainly takes longer, compared round by round.

    The lower end of the sign test's interval for the median of the ratios must be above
    `SMALLEST_RATIO`. The test assumes nothing about how times scatter.
    """
    # A race that was stopped within a round has taken one sample more of some methods.
    ratios = sorted(a / b for a, b in zip(slow.samples, fast.samples, strict=False))
    rank = count_left_out(len(ratios))
    return rank >= 0 and ratios[rank] > SMALLEST_RATIO


def count_left_out(rounds: int) -> int:
    """Return how many ratios the sign test leaves out at each end; -1 with too few rounds."""
    rank, tail = -1, 0.0
    # Each end may have half of what the confidence leaves: the chance of so few heads in as many throws.
    while (tail := tail + math.comb(rounds, rank + 1) / 2**rounds) <= (1 - CONFIDENCE) / 2:
        rank += 1
    return rank


def find_ties(timings: Iterable[Timing]) -> list[list[Timing]]:
    """Group timings from the quickest on; no two in a group can be told apart."""
    groups: list[list[Timing]] = []
    for timing in sorted(timings, key=lambda timing: timing.median):
        if groups and not any(
            is_slower(timing, other) or is_slower(other, timing) for other in groups[-1]
        ):
            groups[-1].append(timing)
        else:
            groups.append([timing])
    return groups


def describe_timings(timings: Sequence[Timing]) -> list[str]:
    """Say which methods of one engine cannot be told apart, and which raise."""
    sizes = sorted({timing.size for timing in timings if timing.samples})
    ties: dict[tuple[str, ...], list[int]] = {}
    sentences = []
    for size in sizes:
        timed = [timing for timing in timings if timing.size == size and timing.samples]
        rounds = min(len(timing.samples) for timing in timed)
        if count_left_out(rounds) < 0:
            sentences.append(
                gettext(
                    "At {size} nothing is certain after {rounds}.",
                    size=_count_elements(size),
                    rounds=_count_rounds(rounds),
                )
            )
            continue
        # By the names of its methods, so that a tie at several sizes is one sentence.
        for group in find_ties(timed):
            if len(group) > 1:
                names = tuple(sorted(timing.method for timing in group))
                ties.setdefault(names, []).append(size)
    for names, tied_sizes in ties.items():
        sentences.append(
            gettext(
                "{methods} cannot be told apart {where}.",
                methods=join_names(list(names)),
                where=_describe_sizes(tied_sizes, sizes),
            )
        )
    # Each once: a method raises the same at every size.
    errors = dict.fromkeys((timing.method, timing.error) for timing in timings if timing.error)
    for name, error in errors:
        sentences.append(gettext("{method} raises {error}", method=name, error=error))
    return sentences


def _describe_sizes(sizes: Sequence[int], all_sizes: Sequence[int]) -> str:
    """Say `at 1 element`, or `from 1 to 1,000 elements` if all sizes between are among them."""
    start = all_sizes.index(sizes[0])
    if len(sizes) > 2 and list(all_sizes[start : start + len(sizes)]) == list(sizes):
        return gettext(
            "from {first} to {last} elements", first=f"{sizes[0]:,}", last=f"{sizes[-1]:,}"
        )
    numbers = join_names([f"{size:,}" for size in sizes])
    return ngettext("at {sizes} element", "at {sizes} elements", max(sizes), sizes=numbers)


# -- how it is shown ---------------------------------------------------------------------


def format_seconds(seconds: float) -> str:
    """Format a time with three digits: `85 ns`, `1.17 µs`, `284 µs`."""
    if seconds <= 0:
        return "0 s"
    # Rounded to three digits first, so that 999.9 µs is 1 ms.
    rounded = float(f"{seconds:.2e}")
    scale, unit = 1e-9, "ns"
    for larger_scale, larger_unit in ((1e-6, "µs"), (1e-3, "ms"), (1.0, "s")):
        if rounded >= larger_scale:
            scale, unit = larger_scale, larger_unit
    return f"{float(f'{rounded / scale:.3g}'):,g} {unit}"


def _count_elements(size: int) -> str:
    return ngettext("{number} element", "{number} elements", size)


def _count_rounds(number: int) -> str:
    return ngettext("{number} round", "{number} rounds", number)


def make_table(engine: str, timings: Sequence[Timing]) -> Table:
    """Make the table of one engine: a row for each method, a median for each size."""
    sizes = sorted({timing.size for timing in timings})
    head = [gettext("elements"), *(f"{size:,}" for size in sizes)]
    rows: dict[str, list[Cell | str]] = {}
    for timing in timings:
        name = protect_marks(timing.method)
        row = rows.setdefault(name, [Cell(name, short=f"`{name}`", head=True)])
        if timing.samples:
            row.append(format_seconds(timing.median))
        else:
            row.append(gettext("raises") if timing.error else "-")
    caption = gettext("**{engine}**: median time of one call", engine=engine)
    return Table(head, rows.values(), caption=caption)


_LEFT, _TOP, _WIDTH, _HEIGHT, _ROW = 58.0, 58.0, 300.0, 250.0, 17.0
_COLOURS = ("name-line", "bad-line", "leaf-line", "count-line", "new-line", "muted", "ink")
# The classes of all pictures that bring these colours into the style sheet.
_COLOUR_CLASSES = ("name", "bad-l", "leaf-l", "count-l", "new", "m", "arrow")
_NAME_COLUMNS = 22


def draw_plot(timings: Sequence[Timing], engine: str) -> str:
    """Draw time against size on logarithmic axes, as an SVG document.

    The layout is computed here, so that equal numbers give equal pictures. Each line ends at the
    name of its method, so that no method is known by its colour alone.
    """
    timed = [timing for timing in timings if timing.samples]
    sizes = sorted({timing.size for timing in timings})
    methods = list(dict.fromkeys(timing.method for timing in timings))
    # A clock that did not tick gives 0, which has no logarithm; where all methods raise there is none.
    seconds = [max(timing.median, 1e-10) for timing in timed] or [1e-7, 1e-3]
    low, high = math.floor(math.log10(min(seconds))), math.ceil(math.log10(max(seconds)))
    # Equal times would leave the axis without a length.
    axes = _Axes(sizes[0], sizes[-1], low, max(high, low + 1))
    canvas = Canvas()
    canvas.text(14, 24, engine, "t l b")
    canvas.text(14, 42, gettext("Time of one call, against the number of elements"), "m s")
    _draw_grid(canvas, axes, sizes)
    ends = []
    for index, name in enumerate(methods):
        points = [(axes.x(t.size), axes.y(t.median)) for t in timed if t.method == name]
        if points:
            canvas.line(points, f"way q{index % len(_COLOURS)}")
            ends.append((points[-1][1], name, index))
    _draw_names(canvas, ends)
    canvas.classes.update(_COLOUR_CLASSES)
    label = gettext("{engine}: time of one call against size, told in words below", engine=engine)
    height = _TOP + max(_HEIGHT, _ROW * len(methods)) + 62
    svg = canvas.svg(_LEFT + _WIDTH + 60 + text_width("m" * _NAME_COLUMNS, "mono"), height, label)
    rules = [".tt-pic .way{fill:none;stroke-width:2}.tt-pic .grid{stroke-dasharray:2 3;opacity:.6}"]
    rules += [f".tt-pic .q{i}{{stroke:{colour(name)}}}" for i, name in enumerate(_COLOURS)]
    return svg.replace("</style>", f"{''.join(rules)}</style>", 1)


@dataclass(frozen=True)
class _Axes:
    """Logarithmic axes: the smallest and largest size, and powers of ten of seconds."""

    smallest: int
    largest: int
    low: int
    high: int

    def x(self, size: int) -> float:
        """The coordinate of a number of elements."""
        decades = math.log10(self.largest / self.smallest)
        # A single size is in the middle.
        part = math.log10(size / self.smallest) / decades if decades else 0.5
        return _LEFT + 14 + part * (_WIDTH - 28)

    def y(self, seconds: float) -> float:
        """The coordinate of a time."""
        part = (math.log10(max(seconds, 1e-10)) - self.low) / (self.high - self.low)
        return _TOP + _HEIGHT * (1 - part)


def _draw_grid(canvas: Canvas, axes: _Axes, sizes: Sequence[int]) -> None:
    for power in range(axes.low, axes.high + 1):
        y = axes.y(10.0**power)
        canvas.line([(_LEFT, y), (_LEFT + _WIDTH, y)], "thin grid")
        canvas.text(_LEFT - 6, y + 4, format_seconds(10.0**power), "m s e")
    bottom, free_from = _TOP + _HEIGHT, -math.inf
    for size in sizes:
        x, label = axes.x(size), f"{size:,}" if size < 10_000 else f"{size:.0e}".replace("e+0", "e")
        canvas.line([(x, bottom), (x, bottom + 5)], "thin")
        # A size without room keeps its tick.
        if x - text_width(label, "s") / 2 >= free_from:
            canvas.text(x, bottom + 19, label, "m s c")
            free_from = x + text_width(label, "s") / 2 + 6
    canvas.text(_LEFT + _WIDTH / 2, bottom + 36, gettext("elements"), "m s c")


def _draw_names(canvas: Canvas, ends: list[tuple[float, str, int]]) -> None:
    """Write each method's name at the end of its line, at least a row below the one above it."""
    ends = sorted(ends)
    y = -math.inf
    below = len(ends)
    for wanted, name, index in ends:
        # Not so low that those that follow run out of the picture.
        room = max(_TOP + _HEIGHT, _TOP + _ROW * len(ends)) - _ROW * (below - 1)
        y = max(y + _ROW, min(wanted, room))
        below -= 1
        x = _LEFT + _WIDTH
        canvas.line([(x - 14, wanted), (x + 12, y)], f"thin q{index % len(_COLOURS)}")
        canvas.text(x + 20, y + 4, name, "t mono", _NAME_COLUMNS)
