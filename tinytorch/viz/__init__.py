"""Pictures and texts of tensors: what shares memory, what shares a version counter, what backward will find.

Works on the tensors of tinytorch and of torch. Looking changes nothing and keeps nothing alive.

    snapshot(x, y)     everything about some tensors as plain data
    memory(x, y)       names, tensors, storages and version counters, drawn and told
    graph(y)           the autograd graph with its saved tensors, a `graphviz.Digraph`
    explain(y)         would backward raise, or be wrong without a word, and why

A picture has `.svg`, `.text` and `.save(path)`, and shows itself in a notebook.
"""

from typing import TYPE_CHECKING

from .draw.graph import graph
from .draw.layout import LayoutError
from .draw.memory import memory
from .draw.picture import Picture
from .explain import Explanation, explain
from .read.records import Snapshot
from .read.snapshot import snapshot

if TYPE_CHECKING:
    from .draw.digraph import GraphPicture

__all__ = [
    "Explanation",
    "GraphPicture",
    "LayoutError",
    "Picture",
    "Snapshot",
    "explain",
    "graph",
    "memory",
    "snapshot",
]


def __getattr__(name: str) -> object:
    # GraphPicture needs the graphviz package, and the rest does not.
    if name == "GraphPicture":
        from .draw.digraph import GraphPicture

        return GraphPicture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
