"""Plain records of what a picture says.

They are made once, from a snapshot and what changed in it, before anything is laid out; the text
and the SVG are two renderers of the same records and look nothing up themselves. That is what keeps
a picture and its text from saying different things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ..read import StorageRecord, TensorRecord

_AnyKind = Literal["heading", "title", "more", "changed", "note"]
_StorageKind = Literal["size", "unusual", "objects", "cells", "summary", "changed cells"]
"""A storage has notes and "changed", too."""
_TensorKind = Literal[
    "name count", "geometry", "reading", "stride", "dtype", "history", "base", "grad", "hazard"
]
_FootKind = Literal["foot", "kept storages"]
_NodeKind = Literal["gradient", "gradient changed", "edge", "goes on"]
_FoldKind = Literal["node kind", "count", "count maybe written", "leaves", "results"]
_SavedKind = Literal[
    # Backward raises, or does so if it opens this: stale, detached, or refused.
    "raises",
    # Else the state of what was saved:
    "live",
    "unchanged",
    "changed unseen",
    "number",
    "packed",
    "once",
    "freed",
    "unreadable",
    # Behind the state, where there is such a thing to say:
    "writing line",
    "maybe written",
    "saved before",
    "more saved",
]
RemarkKind = _AnyKind | _StorageKind | _TensorKind | _FootKind | _NodeKind | _SavedKind | _FoldKind
"""All kinds of remarks. Tables of some of them: `_LEVEL_OF_PART` in `levels.py`, `REMARK_LOOKS` in
`render/graph_cards.py`, `_INKS` in `render/memory_rows.py`, `_OF_LINE_BEFORE` in `render/text.py`."""
FACT_KINDS: tuple[RemarkKind, ...] = (
    "geometry",
    "reading",
    "stride",
    "dtype",
    "history",
    "cells",
    "base",
    "grad",
)
"""Facts of a tensor in the memory picture: text and drawing join them in one sentence, and give each
other remark on a tensor one of its own."""


class Remark(NamedTuple):
    """One thing that a picture says, in words of the chosen language.

    Without a caption, it is for the text alone: the drawing shows the same by cells and lines, or
    leaves it out, as strides. Without a sentence, it is for the drawing alone: the text says the
    same within another sentence.
    """

    kind: RemarkKind
    """What it is about: decides the ink and the sign in the drawing, and the prefix in the text."""
    sentence: str
    caption: str = ""

    @classmethod
    def in_both(cls, kind: RemarkKind, sentence: str) -> Remark:
        """Make a remark that text and drawing say in the same words."""
        return cls(kind, sentence, sentence)


# -- memory ------------------------------------------------------------------------


class NameEntry(NamedTuple):
    """One name of a tensor, with "new", "found" or "" beside it."""

    name: str
    flag: str
    """ "new" for a name that the earlier snapshot did not have for this tensor, "found" for
    what `find` names, or "". The text says "new" and leaves out "found": it marks no rows."""


@dataclass(frozen=True)
class TensorEntry:
    """A tensor in a memory picture."""

    tensor: TensorRecord
    label: str
    """What sentences call it: its names joined, or words where it has none."""
    names: tuple[NameEntry, ...]
    """One for each of its names; the label alone where it has none."""
    is_new: bool
    """True if the earlier snapshot did not have the tensor."""
    remarks: tuple[Remark, ...]
    """Name count; `FACT_KINDS` in that order; then changed, hazard, note."""


@dataclass(frozen=True)
class CounterEntry:
    """A version counter, or a tensor without one, and the tensors of one storage that share it."""

    id: str | None
    """None for an inference tensor, which has no counter."""
    version: int | None
    version_before: int | None
    """Its version in the earlier snapshot; None if it is the same or not known."""
    rows: tuple[int, ...]
    """Positions among the tensors of the storage."""
    sentence: str
    """What the text says of it; the drawing has a box with the number."""


class Arrangement(NamedTuple):
    """How the cells of one storage are drawn, in all steps of a run."""

    has_cells: bool
    """True if each cell is drawn with its value; otherwise one box stands for all of them."""
    has_lanes: bool
    """True if a tensor reads a part of the cells, or in another order: each then has a mark below
    the cells that it reads."""
    cells_per_line: int
    """How many cells are in a line of a matrix; 0 for cells that are no matrix."""


@dataclass(frozen=True)
class StorageEntry:
    """A storage in a memory picture, with its tensors and their version counters."""

    storage: StorageRecord
    title: Remark
    """Whose storage it is."""
    size: Remark
    """How many cells of which dtype, for the text; the drawing has only what is unusual."""
    remarks: tuple[Remark, ...]
    """Kinds: unusual, objects, cells, summary, note, changed cells, changed."""
    old_values: Mapping[int, object]
    """Cell -> the value that it had before."""
    tensors: tuple[TensorEntry, ...]
    more: Remark | None
    """How many of its tensors are not shown; None if all are."""
    counters: tuple[CounterEntry, ...]
    arrangement: Arrangement
    """How its cells are drawn."""
    has_ground: bool
    """True if it is drawn on a ground of its own, as what shares a storage is."""
    has_box: bool
    """True if it is drawn in a box that is seen less: the storage of one tensor is one, too."""


@dataclass(frozen=True)
class PackEntry:
    """Several storages in one line."""

    summary: str
    """The line that stands for them."""
    has_hazard: bool
    """True if a tensor in it has a hazard."""
    open: Callable[[], tuple[StorageEntry | PackEntry, ...]]
    """Makes the entries in it: only if it is opened, since there may be thousands."""


@dataclass(frozen=True)
class MemoryContents:
    """Everything that a memory picture says."""

    title: str
    """What the picture shows, in half a sentence."""
    heading: Remark
    """The first line of the text."""
    entries: tuple[StorageEntry | PackEntry, ...]
    """The storages in order, folded where there are many."""
    without_storage: tuple[TensorEntry, ...]
    """The tensors that have no memory to be drawn: sparse, nested, not filled yet."""
    notes: tuple[Remark, ...]
    """Half sentences, below the storages: kinds foot and kept storages, and hazards of tensors that
    have no row."""
    is_unfolded: bool
    """True with fold=False: the picture keeps its size, however large."""
    is_complete: bool
    """False where a level leaves something out: a notebook can then open the whole below the picture."""


# -- graphs ------------------------------------------------------------------------


@dataclass(frozen=True)
class NamedTensor:
    """A tensor in a graph picture: one that a node made, a leaf, or one that is cut off."""

    id: str
    """The id of its record: cards and edges are named by it."""
    label: str
    """Its names joined, or words where it has none."""
    sentence: str
    """Where it is in the graph, for the text: made by a node, a leaf, or neither."""
    has_name: bool
    """True if the program has a name for it."""
    grad: str
    """What the drawing says of its .grad; empty where there is nothing to say."""
    is_grad_leaf: bool
    """True for a leaf that requires grad."""
    is_new: bool
    """True if the earlier snapshot did not have it."""
    has_new_grad: bool
    """True if its .grad came, or has other values than before."""
    change_sentences: tuple[str, ...]
    """What changed in it, a sentence each."""
    change_captions: tuple[str, ...] = ()
    """Those of them that the drawing has in words."""
    expression: str = ""
    """What the program wrote for one without a name; empty where that is not known."""


@dataclass(frozen=True)
class NodeEntry:
    """A node of the graph."""

    id: str
    """N1, N2: of its record."""
    name: str
    """Its kind without the namespace: MulBackward0."""
    is_new: bool
    """True if the earlier snapshot did not have it."""
    is_found: bool
    """True if `find` names it."""
    has_wrong_gradient: bool
    """True if the step player knows that a backward computed a wrong gradient from what it
    saved."""
    is_freed: bool
    """True if a backward has let go of something that it had saved."""
    flows: bool
    """True if a gradient is known to have gone through it since the earlier snapshot."""
    results: tuple[NamedTensor, ...]
    """The tensors with names that it made."""
    remarks: tuple[Remark, ...]
    """Kinds: gradient, gradient changed, edge; of each thing that it saved raises, or the state (live,
    number, packed, once, freed, unreadable; for live also unchanged, changed unseen), then as far as there is any
    writing line, maybe written, saved before; more saved, goes on; raises of the node itself."""


@dataclass(frozen=True)
class FoldEntry:
    """Several nodes of the graph in one entry."""

    id: str
    """F1, F2; F1.2 for one in an opened fold."""
    title: str
    """The modules that it stands for, and how many times it repeats; may be empty."""
    summary: str
    """The line below the picture that opens it."""
    is_new: bool
    """True if the earlier snapshot had none of its nodes."""
    is_found: bool
    """True if `find` names one of its nodes."""
    flows: bool
    """True if a gradient is known to have gone through one of its nodes."""
    remarks: tuple[Remark, ...]
    """Kinds: heading, node kind, more; raises, changed unseen, count (of other states), count maybe
    written; leaves, results, changed, edge."""
    leaf_labels: tuple[str, ...]
    """What a fold of leaves shows when it is opened."""
    open: Callable[[], GraphContents] | None
    """Makes the picture of what is in it; None for a fold of leaves."""


class OutsideEntry(NamedTuple):
    """An entry outside of an opened fold, to which an edge leads or from which one comes."""

    id: str
    """The name of its card: `to_` or `from_`, and the id of the entry."""
    caption: str
    """Where it leads to or comes from."""


class FreedEntry(NamedTuple):
    """A tensor that was cut off, and is gone with what a backward has freed."""

    id: str
    """The id that it had: its card is named by it."""
    expression: str
    """What the program wrote for it; empty where that is not known."""


class NumberEntry(NamedTuple):
    """A number of Python's that was read from a tensor on the graph."""

    id: str
    """The name of its card."""
    label: str
    """Its name and what it is, as `n = 7.5`."""
    source: str
    """What the tensor is called that it was read from."""
    is_new: bool
    """True if the earlier snapshot did not have it."""


class GraphEdge(NamedTuple):
    """A line of a graph picture from entry to entry."""

    tail: str
    """The id of the entry, tensor or outside entry that it starts at."""
    head: str
    """The id of that which it goes to."""
    kind: str
    """ "next" along next_functions, "leaf" to an accumulated leaf, "saved" from a node to a tensor that
    it saved and that gets no gradient, "cut" between two tensors over the same memory, "was cut" between one
    and what a backward has freed, "copied" between a tensor and what has its numbers alone."""
    label: str = ""
    """The index in next_functions, where several edges go the same way."""
    state: str = ""
    """ "flows" if a gradient is known to have gone along it since the earlier snapshot, "freed" if it
    comes from a node that has let go of what it had saved."""


@dataclass(frozen=True)
class GraphContents:
    """Everything that a graph picture says."""

    title: str
    """What the picture shows, in half a sentence."""
    heading: Remark
    """The first line of the text, and what is above the drawing."""
    summary: str
    """The label for screen readers."""
    listed: tuple[NamedTensor, ...]
    """The tensors of the text, which has a line for each of them."""
    not_listed: str
    """How many tensors have no line in the text; empty if all have."""
    entries: tuple[NodeEntry | FoldEntry, ...]
    """The nodes and folds in order."""
    leaves: tuple[NamedTensor, ...]
    """The leaves that nodes here accumulate into."""
    without_graph: tuple[NamedTensor, ...]
    """Leaves that require grad and from which no node here was computed."""
    subjects: tuple[NamedTensor, ...]
    """The tensor that was asked for first, where it is off the graph and not among `cut_off`."""
    cut_off: tuple[NamedTensor, ...]
    """Tensors with the memory or the numbers of one on the graph that get no gradient of it."""
    freed_cuts: tuple[FreedEntry, ...]
    """Tensors that were cut off, and are gone with what a backward has freed."""
    numbers: tuple[NumberEntry, ...]
    """Numbers of Python's that were read from a tensor on the graph."""
    asides: tuple[str, ...]
    """Lines of the drawing alone: which tensors have no card."""
    outside: tuple[OutsideEntry, ...]
    """Of an opened fold: what is around it."""
    edges: tuple[GraphEdge, ...]
    """The lines between all of these."""
    notes: tuple[str, ...]
    """Half sentences, below the nodes."""
    is_unfolded: bool
    """True with fold=False: the picture keeps its size, however large."""
    keys: Mapping[str, object]
    """Node id -> the key under which the next snapshot knows the node again."""
    has_folded_tensors: bool
    """True if a fold has leaves or named results in it, which then have no card."""
