"""How much a memory picture shows: one table says what each level adds.

`memory` makes a `Detail` of its `level=` once. `_MemoryRun` and what describes the memory ask that
for a part by its name, and know no level; what lays out and draws gets the parts that are left.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from .contents import RemarkKind
from .select_storages import check_option

Level = Literal["names", "storage", "counter", "graph"]
"""How much is said, each with all that is before it: names and values; what shares memory, and how
it is read; version counters; what autograd makes of it."""
LEVELS: tuple[Level, ...] = get_args(Level)

MemoryPart = RemarkKind | Literal["grounds", "counters", "gradients"]
"""Something that a level may leave out: a kind of remark, or the grounds of what shares a storage,
version counters, or gradients that no variable holds."""

_LEVEL_OF_PART: Mapping[MemoryPart, Level] = {
    # What a learner sees who knows names and numbers alone.
    **dict.fromkeys(("geometry", "cells", "changed cells", "foot"), "names"),
    # Which memory it is, who shares it, and how it is read.
    **dict.fromkeys(("grounds", "unusual", "objects", "summary", "note"), "storage"),
    **dict.fromkeys(("name count", "reading", "stride", "dtype"), "storage"),
    "counters": "counter",
    # Autograd: also what has changed in a tensor (`requires_grad`, `.grad`), and what backward raises on.
    **dict.fromkeys(("gradients", "history", "base", "grad", "changed", "hazard"), "graph"),
    "kept storages": "graph",
}
"""From which level on a part is there. What has no entry is in each picture: names, arrows, cells,
heading, titles, sizes."""


class Detail(NamedTuple):
    """How much one memory picture shows."""

    level: Level
    """What its user asked for."""

    @classmethod
    def of_level(cls, level: Level) -> Detail:
        """Return what a level shows; TypeError or ValueError for anything else than a level."""
        check_level(level)
        return cls(level)

    @property
    def is_all(self) -> bool:
        """True if nothing is left out."""
        return self.level == LEVELS[-1]

    def shows(self, part: MemoryPart) -> bool:
        """Return True if the picture has a part; KeyError for one that the table lacks."""
        return LEVELS.index(_LEVEL_OF_PART[part]) <= LEVELS.index(self.level)


EVERYTHING = Detail(LEVELS[-1])


def check_level(level: object) -> None:
    """Raise TypeError or ValueError if `level` is none of `LEVELS`: a tensor may have that name."""
    check_option("level", level, str)
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")
