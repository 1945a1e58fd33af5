"""`growth()`: what more steps of a program leave alive, by the line that made it and the name that holds it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from tinytorch.viz import format_repr, join_few_names, labels

from ..doc import Box, Code, InPage, Paragraph, Part, Presentation, html_element, protect_marks
from ..ui import panel_style_sheet
from ..wording import gettext, ngettext
from .allocations import Allocation, AllocationLog
from .holders import HolderSearch
from .places import Place

_MOST_LINES = 8
_Origin = tuple[str, Place | None]


class GrowthOrigin(NamedTuple):
    """An operation on one line of which more and more results stay alive."""

    tensors: int
    """How many more pieces of memory are alive than after the first step."""
    nbytes: int
    """The size in bytes of what stays alive."""
    operation: str
    place: Place | None
    """The line; None if no line of Python was running."""
    holders: tuple[str, ...]
    """What holds them, in words; empty if no name was found."""

    def __repr__(self) -> str:
        return format_repr(self.sentence)

    @property
    def sentence(self) -> str:
        """The origin in words, without its line."""
        tensors = ngettext("{number} tensor", "{number} tensors", self.tensors)
        nbytes = ngettext("{number} byte", "{number} bytes", self.nbytes)
        made = gettext(
            "{tensors}, {bytes}, made by {operation}",
            tensors=tensors,
            bytes=nbytes,
            operation=self.operation,
        )
        if not self.holders:
            return gettext("{what}; no name was found that holds them", what=made)
        holders = join_few_names(labels.escape_name(name) for name in self.holders)
        return gettext("{what}, held by {names}", what=made, names=holders)


def growth(step: Callable[[], Any], times: int = 10) -> Growth:
    """Call `step` once and then `times` more times, and say what these leave alive.

        >>> print(growth(lambda: train_step(net, batch)))
        10 more steps leave 20 tensors alive, 163,840 bytes.
        20 tensors, 163,840 bytes, made by addmm, held by the list acts:
          train.py:8  out = self.layers(x)

    The first step makes what is made once (the state of an optimizer, gradients), so it does not count. Of each
    operation on each line it is told how many more of its results are alive at the end than after the first step, if
    their number was still rising in the second half: what each step replaces is no growth. Names are searched among the
    variables of the caller and of `step`, inside of containers, modules and other objects, and in the graphs behind
    tensors. Garbage is collected before counting. The result is falsy if nothing grows.

    `step` does what it does, `times + 1` times; nothing else is changed, and nothing kept alive. What compiled code
    makes is not seen, nor other threads. Raises TypeError if `step` cannot be called, ValueError for `times` below 2.
    Source: `TorchDispatchMode`, and weak references to storages.
    """
    if not callable(step):
        raise TypeError(f"step must be a function without arguments, not {type(step).__name__}")
    if times < 2:
        raise ValueError(f"times must be 2 or more, not {times}")
    log = AllocationLog()
    # Three counts: what grows is more at the end than half way, and is told against the first.
    with log.record():
        _repeat_step(step, 1, log)
        first = _count_by_origin(log.list_alive())
        _repeat_step(step, times // 2, log)
        middle = _count_by_origin(log.list_alive())
        _repeat_step(step, times - times // 2, log)
    last = _group_by_origin(log.list_alive())
    search: HolderSearch | None = None
    origins = []
    for origin, alive in last.items():
        # What each step replaces: there are as many at the end as there were half way.
        if len(alive) <= middle.get(origin, (0, 0))[0]:
            continue
        # Made only where something grows: it goes through all variables.
        search = search or HolderSearch(step, sys._getframe(1), log.memory_key)
        tensors, nbytes = first.get(origin, (0, 0))
        origins.append(
            GrowthOrigin(
                len(alive) - tensors,
                sum(allocation.nbytes for allocation in alive) - nbytes,
                *origin,
                tuple(search.find_holders([allocation.key for allocation in alive])),
            )
        )
    origins.sort(key=lambda origin: -origin.nbytes)
    return Growth(times, tuple(origins), sees_tinytorch=log.sees_tinytorch)


def _repeat_step(step: Callable[[], Any], times: int, log: AllocationLog) -> None:
    for _ in range(times):
        step()
        log.forget_freed()


def _group_by_origin(allocations: Sequence[Allocation]) -> dict[_Origin, list[Allocation]]:
    groups: dict[_Origin, list[Allocation]] = {}
    for allocation in allocations:
        groups.setdefault((allocation.operation, allocation.place), []).append(allocation)
    return groups


def _count_by_origin(allocations: Sequence[Allocation]) -> dict[_Origin, tuple[int, int]]:
    """Return number and bytes for each origin: plain numbers, which keep nothing alive."""
    counts: dict[_Origin, tuple[int, int]] = {}
    for origin, group in _group_by_origin(allocations).items():
        counts[origin] = len(group), sum(allocation.nbytes for allocation in group)
    return counts


class Growth(Presentation):
    """What steps left alive: `origins`, the largest first; `tensors` and `nbytes` in all. False if nothing grows.

    `sees_tinytorch`: False where the program had a profiler of its own, and only PyTorch was looked at.
    """

    def __init__(
        self, times: int, origins: tuple[GrowthOrigin, ...], *, sees_tinytorch: bool = True
    ) -> None:
        self.times, self.origins, self.sees_tinytorch = times, origins, sees_tinytorch
        self.tensors = sum(origin.tensors for origin in origins)
        self.nbytes = sum(origin.nbytes for origin in origins)

    def __bool__(self) -> bool:
        return bool(self.origins)

    @property
    def title(self) -> str:
        """How much it is, in a sentence."""
        steps = ngettext("{number} more step", "{number} more steps", self.times)
        if not self.origins:
            return gettext("{steps} leave nothing alive beyond what the first left.", steps=steps)
        tensors = ngettext("{number} tensor", "{number} tensors", self.tensors)
        nbytes = ngettext("{number} byte", "{number} bytes", self.nbytes)
        return gettext(
            "{steps} leave {tensors} alive, {bytes}.", steps=steps, tensors=tensors, bytes=nbytes
        )

    def tree(self) -> Part:
        """The sum, then each origin with its line."""
        parts: list[Part] = [Paragraph(self.title)]
        for origin in self.origins[:_MOST_LINES]:
            place = gettext("a line that is not known") if origin.place is None else origin.place
            parts.append(Paragraph(protect_marks(gettext("{what}:", what=origin.sentence))))
            parts.append(Code(str(place)))
        left_out = len(self.origins) - _MOST_LINES
        if left_out > 0:
            parts.append(
                Paragraph(ngettext("And {number} more line.", "And {number} more lines.", left_out))
            )
        if not self.sees_tinytorch:
            gap = gettext("tinytorch was not looked at: the program has a profiler of its own.")
            parts.append(Paragraph(gap))
        sheet = InPage(html_element("style", panel_style_sheet()))
        return Box(sheet, *parts, class_="cl-panel")

    def __repr__(self) -> str:
        return format_repr(self.title)
