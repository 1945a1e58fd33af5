"""Plain records of what a picture says.

They are made once, from a snapshot and what changed in it, before anything is laid out; the text
and the SVG are two renderers of the same records and look nothing up themselves. That is what keeps
a picture and its text from saying different things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..read import StorageRecord, TensorRecord

MOST_ARCS = 8
"""The order of walk of up to this many elements is drawn: the arcs of more would be a tangle."""


class Remark(NamedTuple):
    """One thing that a picture says, in words of the chosen language.

    A sentence without a caption is shown in the drawing by lines, places or colours; a caption
    without a sentence is part of another sentence of the text.
    """

    kind: str
    """What it is about: decides the ink and the sign in the drawing, and the prefix in the text."""
    sentence: str
    caption: str = ""

    @classmethod
    def in_both(cls, kind: str, sentence: str) -> Remark:
        """Make a remark that text and drawing say in the same words."""
        return cls(kind, sentence, sentence)


# -- memory ------------------------------------------------------------------------


class NameEntry(NamedTuple):
    """One name of a tensor, with "new", "found" or "" beside it."""

    name: str
    flag: str


@dataclass(frozen=True)
class TensorEntry:
    """A tensor in a memory picture."""

    tensor: TensorRecord
    label: str
    names: tuple[NameEntry, ...]
    is_new: bool
    cells: str
    """Which cells it covers, for where none of these is among the cells that are drawn."""
    remarks: tuple[Remark, ...]
    """Kinds: geometry, stride, dtype, history, cells, base, grad; then changed, hazard, note."""


@dataclass(frozen=True)
class CounterEntry:
    """A version counter, or a tensor without one, and the tensors of one storage that share it."""

    id: str | None
    version: int | None
    version_before: int | None
    rows: tuple[int, ...]
    """Positions among the tensors of the storage."""
    sentence: str


@dataclass(frozen=True)
class StorageEntry:
    """A storage in a memory picture, with its tensors and their version counters."""

    storage: StorageRecord
    title: Remark
    size: Remark
    remarks: tuple[Remark, ...]
    """Kinds: objects, cells, note, changed cells."""
    old_values: Mapping[int, object]
    """Cell -> the value that it had before."""
    tensors: tuple[TensorEntry, ...]
    more: Remark | None
    counters: tuple[CounterEntry, ...]


@dataclass(frozen=True)
class PackEntry:
    """Several storages in one line."""

    summary: str
    has_hazard: bool
    open: Callable[[], tuple[StorageEntry | PackEntry, ...]]
    """Makes the entries in it: only if it is opened, since there may be thousands."""


@dataclass(frozen=True)
class MemoryContents:
    """Everything that a memory picture says."""

    title: str
    heading: Remark
    entries: tuple[StorageEntry | PackEntry, ...]
    without_storage: tuple[TensorEntry, ...]
    notes: tuple[str, ...]
    is_whole: bool


# -- graphs ------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedTensor:
    """A tensor in a graph picture: a name that leads to its node, or a leaf."""

    id: str
    label: str
    sentence: str
    caption: str
    is_grad_leaf: bool
    is_new: bool
    changes: tuple[str, ...]


@dataclass(frozen=True)
class NamedTensors:
    """Several tensors of a graph picture that share a card."""

    id: str
    headings: tuple[str, ...]
    tensors: tuple[NamedTensor, ...]


@dataclass(frozen=True)
class NodeEntry:
    """A node of the graph."""

    id: str
    name: str
    is_new: bool
    is_found: bool
    has_wrong_gradient: bool
    remarks: tuple[Remark, ...]
    """Kinds: gradient, gradient changed, edge; of each thing that it saved the state (live, number,
    packed, once, stale, freed, unreadable; for live also unchanged, written unseen), then writing
    line, maybe written, changed; more."""


@dataclass(frozen=True)
class FoldEntry:
    """Several nodes of the graph in one entry."""

    id: str
    title: str
    summary: str
    """The line below the picture that opens it."""
    is_new: bool
    is_found: bool
    remarks: tuple[Remark, ...]
    """Kinds: heading, node kind, more; stale, written unseen, count (of other states), count maybe
    written; leaves, results, changed, edge."""
    leaf_labels: tuple[str, ...]
    open: Callable[[], GraphContents] | None
    """Makes the picture of what is in it; None for a fold of leaves."""


class OutsideEntry(NamedTuple):
    """An entry outside of an opened fold, to which an edge leads or from which one comes."""

    id: str
    caption: str


class GraphEdge(NamedTuple):
    """A line of a graph picture from entry to entry."""

    tail: str
    head: str
    kind: str
    """ "name" from a tensor to its node, "next" along next_functions, "leaf" to an accumulated leaf."""
    label: str = ""


@dataclass(frozen=True)
class GraphContents:
    """Everything that a graph picture says."""

    title: str
    heading: Remark
    summary: str
    """The label for screen readers."""
    listed: tuple[NamedTensor, ...]
    """The tensors of the text, which has a line for each of them."""
    not_listed: str
    results: tuple[NamedTensor, ...]
    entries: tuple[NodeEntry | FoldEntry, ...]
    leaves: tuple[NamedTensor, ...]
    without_graph: tuple[NamedTensor, ...]
    """Leaves that require grad and from which no node here was computed."""
    groups: tuple[NamedTensors, ...]
    outside: tuple[OutsideEntry, ...]
    edges: tuple[GraphEdge, ...]
    notes: tuple[str, ...]
    is_whole: bool
    keys: Mapping[str, object]
    """Node id -> the key under which the next snapshot knows the node again."""
    has_folded_tensors: bool
