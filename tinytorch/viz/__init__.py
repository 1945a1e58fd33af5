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

# What copylab builds on, besides the public names below.
from .diagnose import Blame as Blame
from .diagnose import Changes as Changes
from .diagnose import Explanation, explain
from .diagnose import Past as Past
from .diagnose import blame as blame
from .diagnose import changes as changes
from .diagnose import written as written
from .read import Snapshot, modules, read, snapshot
from .read import Tensor as Tensor
from .read import collect as collect
from .read import engine_name as engine_name
from .read import is_tensor as is_tensor
from .read import quietly as quietly
from .read import undisturbed as undisturbed
from .read import version_of as version_of
from .render import PALETTE as PALETTE
from .render import Canvas as Canvas
from .render import Document as Document
from .render import LayoutError, Picture, memory
from .render import colour as colour
from .render import convert as convert
from .render import fixed as fixed
from .render import graphs_of as graphs_of
from .render import memories_of as memories_of
from .render import number as number
from .show import describe as describe
from .wording import bracket as bracket
from .wording import catalogue as catalogue
from .wording import few as few
from .wording import gettext as gettext
from .wording import gettext_noop as gettext_noop
from .wording import known as known
from .wording import labels as labels
from .wording import language as language
from .wording import listed as listed
from .wording import ngettext as ngettext
from .wording import short as short
from .wording import shorten as shorten
from .wording import summarize as summarize
from .wording import use as use
from .wording import width as width

if TYPE_CHECKING:
    from .render import GraphPicture

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
    *tensors: Any,
    since: Snapshot | None = None,
    values: Any = True,
    find: str = "",
    fold: bool = True,
    **named: Any,
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
    from .render import GraphPicture

    return GraphPicture(snap, since, find, fold)


def __getattr__(name: str) -> object:
    # GraphPicture needs the graphviz package, and the rest does not.
    if name == "GraphPicture":
        from .render import GraphPicture

        return GraphPicture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
