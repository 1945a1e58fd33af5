"""How much a picture shows: its options are checked, and one table says what each level adds.

The functions that users call turn `level=` into parts, by `select_parts`. `select_storages` keeps them
in its selection, `describe_memory` leaves out what is not among them, by `keep_parts`, which also notes
whether that is anything (`is_complete`). What lays out, draws and folds gets what is left, and knows no level.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Literal, get_args

from .contents import MemoryContents, PackEntry, Remark, RemarkKind, StorageEntry, TensorEntry

Level = Literal["names", "storage", "counter", "graph"]
"""How much is said, each with all that is before it: names and values; what shares memory, and how
it is read; version counters; what autograd makes of it."""
LEVELS: tuple[Level, ...] = get_args(Level)

MemoryPart = RemarkKind | Literal["grounds", "counters", "gradients"]
"""Something that a level may leave out: a kind of remark, or the grounds of what shares a storage,
version counters, or gradients that no variable holds."""

_LEVEL_OF_PART: Mapping[MemoryPart, Level] = {
    # What a learner sees who knows names and numbers alone.
    **dict.fromkeys(("geometry", "cells", "changed cells", "foot", "name count"), "names"),
    # Which memory it is, who shares it, and how it is read.
    **dict.fromkeys(("grounds", "unusual", "objects", "summary", "note"), "storage"),
    **dict.fromkeys(("reading", "stride", "dtype"), "storage"),
    "counters": "counter",
    # Autograd: also what has changed in a tensor (`requires_grad`, `.grad`), and what backward raises on.
    **dict.fromkeys(("gradients", "history", "base", "grad", "changed", "hazard"), "graph"),
    "kept storages": "graph",
}
"""From which level on a part is there. What has no entry is in each picture: names, arrows, cells,
heading, titles, sizes."""

ALL_PARTS = frozenset(_LEVEL_OF_PART)


def check_options(find: object, fold: object) -> None:
    """Raise TypeError if `find` or `fold` is of another type: a tensor may have that name."""
    check_option("find", find, str)
    check_option("fold", fold, bool)


def check_option(name: str, value: object, expected: type) -> None:
    """Raise TypeError if an option of a picture is of another type."""
    if not isinstance(value, expected):
        raise TypeError(
            f"{name}= is of type {expected.__name__}, not {type(value).__name__}; "
            f'a tensor of that name is shown with {{"{name}": {name}}} as the first argument'
        )


def check_level(level: object) -> None:
    """Raise TypeError or ValueError if `level` is none of `LEVELS`: a tensor may have that name."""
    check_option("level", level, str)
    if level not in LEVELS:
        raise ValueError(f"level must be one of {', '.join(LEVELS)}, not {level!r}")


def select_parts(level: Level) -> frozenset[MemoryPart]:
    """Return what a level shows; TypeError or ValueError for anything else than a level."""
    check_level(level)
    highest = LEVELS.index(level)
    return frozenset(
        part for part, least in _LEVEL_OF_PART.items() if LEVELS.index(least) <= highest
    )


def keep_parts(contents: MemoryContents, parts: Collection[MemoryPart]) -> MemoryContents:
    """Return what a picture says, without all that is not among `parts`.

    Gradients are left out before, by `select_storages`: how cells are drawn depends on which tensors
    read them. So are hazards counted in a pack, of which there are only words here, by `describe_memory`.
    """
    return replace(
        contents,
        entries=_keep_in_entries(lambda: contents.entries, parts),
        without_storage=_keep_in_tensors(contents.without_storage, parts),
        notes=_keep_remarks(contents.notes, parts),
        is_complete=frozenset(parts) >= ALL_PARTS,
    )


def _keep_in_entries(
    list_entries: Callable[[], Iterable[StorageEntry | PackEntry]], parts: Collection[MemoryPart]
) -> tuple[StorageEntry | PackEntry, ...]:
    """Return entries, those of a picture or of a pack that is opened, without what is not among `parts`."""
    kept: list[StorageEntry | PackEntry] = []
    for entry in list_entries():
        if isinstance(entry, StorageEntry):
            kept.append(_keep_in_storage(entry, parts))
        else:
            # Nothing in a pack is described before somebody opens it, so nothing is left out before.
            kept.append(replace(entry, open=partial(_keep_in_entries, entry.open, parts)))
    return tuple(kept)


def _keep_in_storage(entry: StorageEntry, parts: Collection[MemoryPart]) -> StorageEntry:
    return replace(
        entry,
        remarks=_keep_remarks(entry.remarks, parts),
        tensors=_keep_in_tensors(entry.tensors, parts),
        counters=entry.counters if "counters" in parts else (),
        has_ground=entry.has_ground and "grounds" in parts,
        has_box=entry.has_box and "grounds" in parts,
    )


def _keep_in_tensors(
    entries: Iterable[TensorEntry], parts: Collection[MemoryPart]
) -> tuple[TensorEntry, ...]:
    return tuple(replace(entry, remarks=_keep_remarks(entry.remarks, parts)) for entry in entries)


def _keep_remarks(remarks: Iterable[Remark], parts: Collection[MemoryPart]) -> tuple[Remark, ...]:
    return tuple(remark for remark in remarks if remark.kind in parts)
