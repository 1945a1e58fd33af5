"""Renderers of pictures: text and SVG."""

from .digraph import GraphPicture
from .graph_svg import graphs_of
from .layout import LayoutError
from .memory_svg import memories_of, memory
from .picture import Document, Picture, convert
from .style import PALETTE, Canvas, colour, fixed, number

__all__ = [
    "PALETTE",
    "Canvas",
    "Document",
    "GraphPicture",
    "LayoutError",
    "Picture",
    "colour",
    "convert",
    "fixed",
    "graphs_of",
    "memories_of",
    "memory",
    "number",
]
