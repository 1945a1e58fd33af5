"""Renderers of pictures: text and SVG."""

from typing import TYPE_CHECKING

from .graph_svg import graphs_of, make_room
from .layout import LayoutError
from .memory_svg import memories_of, memory, memory_with_origins
from .picture import Document, Picture, convert
from .style import PALETTE, Canvas, colour, fix_theme

if TYPE_CHECKING:
    from .digraph import GraphPicture

__all__ = [
    "PALETTE",
    "Canvas",
    "Document",
    "GraphPicture",
    "LayoutError",
    "Picture",
    "colour",
    "convert",
    "fix_theme",
    "graphs_of",
    "make_room",
    "memories_of",
    "memory",
    "memory_with_origins",
]


def __getattr__(name: str) -> object:
    # GraphPicture needs the graphviz package; snapshots and memory pictures do without.
    if name == "GraphPicture":
        from .digraph import GraphPicture

        return GraphPicture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
