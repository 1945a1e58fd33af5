"""The graph picture: which nodes backward will walk, and what they saved."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..diff import changes
from ..read.records import Snapshot
from ..read.snapshot import read
from ..words import graph_text
from .cards import Card, Wire, build
from .picture import Picture
from .route import draw

if TYPE_CHECKING:
    from .digraph import GraphPicture


def graph(*tensors: Any, since: Snapshot | None = None, **named: Any) -> GraphPicture:
    """Draw the autograd graph behind some tensors as a `graphviz.Digraph`; the arguments are those of `snapshot`.

    A snapshot may be given instead. With `since`, an earlier snapshot, what is new or changed is marked. Nodes, leaves and saved tensors (live, stale, freed) are as
    torch's `grad_fn`, `next_functions` and `_saved_*` tell them.
    Raises TypeError for an argument that is no tensor and holds none; ImportError without the
    `graphviz` package; on drawing, LayoutError where no Graphviz can be found.
    """
    snap = read(tensors, named, sys._getframe(1), since)
    # Imported here: snapshots and memory pictures do without the graphviz package.
    from .digraph import GraphPicture

    return GraphPicture(snap, since)


def drawing(snap: Snapshot, since: Snapshot | None = None) -> tuple[tuple[Card | Wire, ...], Picture]:
    """The same picture without a Digraph, for those who draw many; and what it shows, before it is laid out.

    Two pictures that show the same look the same.
    """
    changed = changes(snap, since)
    cards, wires = build(snap, changed)
    picture = Picture(lambda theme: draw(snap, cards, wires, changed, theme), lambda: graph_text(snap, changed))
    return (*cards, *wires), picture
