"""The plan of a race: methods, sizes, engines, as people give them, checked before anything is timed; and in words."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Literal

from tinytorch.viz import gettext, join_names, ngettext

from ..copying import Method, method
from ..doc import Box, Cell, Code, Fold, Paragraph, Table, protect_marks
from ..run import compile_program, execute_program, require_engine
from .words import elements, in_rounds

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
LARGEST = 100_000_000
ROUNDS = 21
"""Enough for an interval that holds the true ratio in 99 of 100 cases, and for it to be narrow."""
SECONDS = 60.0
Kind = Literal["leaf", "result", "plain"]
SOURCES: Mapping[str, str] = {
    "leaf": "x = torch.ones({size}, requires_grad=True)",
    "result": "a = torch.ones({size}, requires_grad=True)\nx = a * 2",
    "plain": "x = torch.ones({size})",
}
"""The lines that make x, `{size}` stands for its number of elements."""


@dataclass(frozen=True)
class Plan:
    """What a race times: each method at each size on each engine, so many rounds, and at most so many seconds.

    source: a key of SOURCES. engines: those that were asked for; none for tinytorch and PyTorch, where it is there.
    """

    methods: tuple[Method, ...]
    sizes: tuple[int, ...]
    source: str
    engines: tuple[ModuleType, ...]
    rounds: int
    seconds: float

    def x(self, engine: ModuleType, size: int) -> object:
        """What is copied."""
        return execute_program(SOURCES[self.source].format(size=size), engine)["x"]

    def found_engines(self) -> tuple[ModuleType, ...]:
        """The engines that were asked for, or that there are."""
        there = ["tinytorch", *(["torch"] if importlib.util.find_spec("torch") else [])]
        return self.engines or tuple(map(importlib.import_module, there))

    def tree(self) -> Box:
        """The plan, true before and after the race: it says nothing of what is installed or was timed."""
        times = Paragraph(
            gettext(
                "Start or .run() takes the times. They are never the same twice, so they are not shown here; "
                ".report has them in words."
            )
        )
        table, facts = self._details()
        title = Paragraph(gettext("**Race: {race}**", race=self._heading()))
        return Box(title, table, Box(facts, times), apart=True)

    def live(self) -> Box:
        """The plan above which there is a button."""
        lead = Paragraph(
            gettext("Which way to copy is quickest, and does it matter?"), kind="cl-title"
        )
        race = gettext("{race}, on {engines}", race=self._heading(), engines=self._engines())
        return Box(lead, Paragraph(f"{race}. {self._limits()}"), self.fold())

    def fold(self) -> Fold:
        """What stands below the results."""
        return Fold(gettext("What is timed, and how"), *self._details(), data_keep="plan")

    def _details(self) -> tuple[Table, Box]:
        rows: list[list[Cell | str]] = [
            [
                protect_marks(one.name),
                Cell(protect_marks("; ".join(one.code.splitlines())), part=Code(one.code)),
            ]
            for one in self.methods
        ]
        lines = SOURCES[self.source].replace("{size}", "size").splitlines()
        how = gettext(
            "In each round every method is timed once at every size, in another order, on one thread. A time is the "
            "quickest of five runs one after another; what is shown is the median over the rounds and where its middle "
            "half lies."
        )
        sure = gettext(
            "Two methods are told apart if one took over 3 % longer in the same rounds, certain in 99 of 100 cases. "
            "Memory that the program has used before is used again; new memory from the system can take several times "
            "as long."
        )
        sizes = ", ".join(f"{size:,}" for size in self.sizes)
        facts = (
            gettext("x is made by: {code}", code="; ".join(lines)),
            gettext("Sizes: {sizes} elements.", sizes=sizes),
            gettext("Engines: {engines}.", engines=self._engines()),
            f"{self._limits()} {how} {sure}",
        )
        return Table((), rows), Box(*map(Paragraph, facts))

    def _heading(self) -> str:
        ways = ngettext("{number} way to copy", "{number} ways to copy", len(self.methods))
        sizes = ngettext("{number} size", "{number} sizes", len(self.sizes))
        first, last = f"{self.sizes[0]:,}", elements(self.sizes[-1])
        if len(self.sizes) == 1:
            return gettext(
                "{ways}, at {sizes} with {elements}", ways=ways, sizes=sizes, elements=last
            )
        return gettext(
            "{ways}, at {sizes} from {first} to {last}",
            ways=ways,
            sizes=sizes,
            first=first,
            last=last,
        )

    def _engines(self) -> str:
        names = [engine.__name__ for engine in self.engines]
        return (
            join_names(names)
            if names
            else gettext("tinytorch, and on PyTorch where it is installed")
        )

    def _limits(self) -> str:
        rounds, seconds = in_rounds(self.rounds), f"{self.seconds:g}"
        return gettext("{rounds}, at most {seconds} seconds.", rounds=rounds, seconds=seconds)


def planned(
    methods: Sequence[str | Method] | Mapping[str, str] | None,
    sizes: Iterable[int] | None,
    source: str,
    engine: ModuleType | Sequence[ModuleType] | None,
    rounds: int,
    seconds: float,
) -> Plan:
    """The plan from what `race` is given, each method, size and engine once; raises what `race` raises."""
    if source not in SOURCES:
        raise ValueError(f"source must be 'leaf', 'result' or 'plain', not {source!r}")
    if not isinstance(rounds, int) or rounds < 1 or not seconds > 0:
        raise ValueError(f"the limits must be positive, not rounds={rounds} and seconds={seconds}")
    several = engine if isinstance(engine, list | tuple) else (engine,)
    engines = dict.fromkeys(one for one in map(require_engine, several) if one is not None)
    return Plan(_methods(methods), _sizes(sizes), source, tuple(engines), rounds, seconds)


def _methods(given: Sequence[str | Method] | Mapping[str, str] | None) -> tuple[Method, ...]:
    if isinstance(given, Mapping):
        made = [Method(name, code) for name, code in given.items()]
    else:
        several = (
            (given,) if isinstance(given, str | Method) else METHODS if given is None else given
        )
        made = [method(one) for one in several]
    if not made:
        raise ValueError("a race needs a method")
    for one in made:
        try:
            compile_program(one.code)
        except SyntaxError as error:
            raise ValueError(f"the code of {one.name!r} is not Python: {error}") from None
    return tuple({one.name: one for one in made}.values())


def _sizes(given: Iterable[int] | None) -> tuple[int, ...]:
    sizes = SIZES if given is None else (given,) if isinstance(given, int) else tuple(given)
    for size in sizes:
        if not isinstance(size, int) or isinstance(size, bool) or not 1 <= size <= LARGEST:
            raise ValueError(f"a size is a number of elements from 1 to {LARGEST:,}, not {size!r}")
    if not sizes:
        raise ValueError("a race needs a size")
    return tuple(sorted(set(sizes)))
