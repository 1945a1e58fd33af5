"""Pictures and texts of tensors: what shares memory, what shares a version counter, what backward will find.

Works on the tensors of tinytorch and of torch. Looking changes nothing and keeps nothing alive.

    snapshot(x, y)     everything about some tensors as plain data
    memory(x, y)       names, tensors, storages and version counters, drawn and told
    graph(y)           the autograd graph with its saved tensors, a `graphviz.Digraph`
    explain(y)         would backward raise, or be wrong without a word, and why
    modules(net)       a context in which nodes of the graph are noted with the module that made them

A picture has `.svg`, `.text` and `.save(path)`, and shows itself in a notebook.
"""

import sys
from typing import TYPE_CHECKING, Any

from .draw.layout import LayoutError
from .draw.memory import memory
from .draw.picture import Picture
from .explain import Explanation, explain
from .read.modules import modules
from .read.records import Snapshot
from .read.snapshot import read, snapshot

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
    "modules",
    "snapshot",
]


def graph(
    *tensors: Any, since: Snapshot | None = None, values: Any = True, find: str = "", fold: bool = True, **named: Any
) -> "GraphPicture":
    """Draw the autograd graph behind some tensors as a `graphviz.Digraph`, and tell of it in words.

    >>> net = torch.nn.Linear(2, 1)
    >>> loss = net(torch.ones(1, 2)).sum()
    >>> picture = graph(loss, params=net.named_parameters())
    >>> print(picture.text)
    Graph: 5 nodes.
    loss: made by N1 SumBackward0.
    weight: a leaf that requires grad.
    ...

    The arguments are those of `snapshot`, or a snapshot. With `since`, an earlier snapshot, what is new or changed is
    marked. Nodes, leaves and saved tensors (live, stale, freed) are as torch's `grad_fn`, `next_functions` and
    `_saved_*` tell them.
    A graph of more than 40 nodes is folded, by module and by what is repeated; what is in trouble stays in view, and
    so does what `find` names: a module, a tensor or a kind of node ("layers.3", "softmax"). `fold=False` shows it all.
    Raises TypeError for an argument that is no tensor and holds none; ImportError without the
    `graphviz` package; on drawing, LayoutError where no Graphviz can be found.
    """
    snap = read(tensors, named, sys._getframe(1), since, values)
    # Imported here: snapshots and memory pictures do without the graphviz package.
    from .draw.digraph import GraphPicture

    return GraphPicture(snap, since, find, fold)


def __getattr__(name: str) -> object:
    # GraphPicture needs the graphviz package, and the rest does not.
    if name == "GraphPicture":
        from .draw.digraph import GraphPicture

        return GraphPicture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
