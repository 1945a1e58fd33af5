"""Pictures and texts of tensors: what shares memory or a version counter, what backward will find.

Works on the tensors of tinytorch and of torch. Looking changes nothing and keeps nothing alive.

    snapshot(x, y)     everything about some tensors as plain data
    memory(x, y)       names, tensors, storages and version counters, as a picture and in words
    graph(y)           the autograd graph with its saved tensors, a `graphviz.Digraph`
    explain(y)         whether backward would raise, or be wrong without an error, and why
    modules(net)       a context that notes which module made each node of the graph

A picture has `.svg`, `.text` and `.save(path)`, and is displayed in a notebook.
"""

import sys
from typing import TYPE_CHECKING, Any

# What copylab builds on, besides the public names below.
from . import render
from .diagnose import THREADS_ON_SAVED_VALUES as THREADS_ON_SAVED_VALUES
from .diagnose import Blame as Blame
from .diagnose import Changes as Changes
from .diagnose import Explanation, explain
from .diagnose import GradientPair as GradientPair
from .diagnose import PastStep as PastStep
from .diagnose import blame_lines as blame_lines
from .diagnose import compare_gradients as compare_gradients
from .diagnose import compare_snapshots as compare_snapshots
from .diagnose import describe_exits as describe_exits
from .diagnose import describe_replaced as describe_replaced
from .diagnose import describe_why_no_grad as describe_why_no_grad
from .diagnose import find_replaced as find_replaced
from .diagnose import list_stepped as list_stepped
from .diagnose import list_written_names as list_written_names
from .diagnose import mark_raised as mark_raised
from .diagnose import silence_warnings as silence_warnings
from .read import COMPARISON_FINDERS as COMPARISON_FINDERS
from .read import EXIT_FINDERS as EXIT_FINDERS
from .read import FREED_GRAPH_FINDERS as FREED_GRAPH_FINDERS
from .read import MAKING_LINE_FINDERS as MAKING_LINE_FINDERS
from .read import NO_GRAPH_FINDERS as NO_GRAPH_FINDERS
from .read import THREADS_IN_LOOK as THREADS_IN_LOOK
from .read import ExitKind as ExitKind
from .read import FormulaUse as FormulaUse
from .read import FoundSharing as FoundSharing
from .read import GraphExit as GraphExit
from .read import RandomStates as RandomStates
from .read import RetainedGradients as RetainedGradients
from .read import SaveUnderWatch as SaveUnderWatch
from .read import SharedFact as SharedFact
from .read import Snapshot, modules, read_snapshot, snapshot
from .read import TensorRecord as TensorRecord
from .read import can_wait_for as can_wait_for
from .read import choose_objects_of_program as choose_objects_of_program
from .read import collect_tensors as collect_tensors
from .read import collect_tensors_by_name as collect_tensors_by_name
from .read import disable_overrides as disable_overrides
from .read import engine_name as engine_name
from .read import find_formula_use as find_formula_use
from .read import find_leaves as find_leaves
from .read import find_sharing as find_sharing
from .read import getattr_or_none as getattr_or_none
from .read import grad_fn_or_none as grad_fn_or_none
from .read import is_added_name as is_added_name
from .read import is_library_frame as is_library_frame
from .read import is_module as is_module
from .read import is_observed as is_observed
from .read import is_tensor as is_tensor
from .read import list_tensors_behind as list_tensors_behind
from .read import mark_look as mark_look
from .read import things_in as things_in
from .read import version_of as version_of
from .render import PALETTE as PALETTE
from .render import Canvas as Canvas
from .render import Document as Document
from .render import LayoutError, Picture, memory
from .render import colour as colour
from .render import convert as convert
from .render import fix_theme as fix_theme
from .render import graphs_of as graphs_of
from .render import memories_of as memories_of
from .render import memory_with_origins as memory_with_origins
from .show import LEVELS as LEVELS
from .show import Level as Level
from .show import LineFacts as LineFacts
from .show import NumberRead as NumberRead
from .show import ReadStep as ReadStep
from .show import StepSentence as StepSentence
from .show import check_level as check_level
from .show import describe_kept_graphs as describe_kept_graphs
from .show import describe_new_cuts as describe_new_cuts
from .show import describe_step as describe_step
from .show import find_backward_root as find_backward_root
from .show import find_expressions as find_expressions
from .show import find_number_reads as find_number_reads
from .show import find_origins as find_origins
from .show import format_values as format_values
from .show import list_texts as list_texts
from .wording import Phrase as Phrase
from .wording import add_catalogue as add_catalogue
from .wording import cache_in_language as cache_in_language
from .wording import cached_property_in_language as cached_property_in_language
from .wording import current_language as current_language
from .wording import format_repr as format_repr
from .wording import gettext as gettext
from .wording import gettext_noop as gettext_noop
from .wording import join_facts as join_facts
from .wording import join_few_names as join_few_names
from .wording import join_list as join_list
from .wording import join_names as join_names
from .wording import join_phrases as join_phrases
from .wording import join_sentences as join_sentences
from .wording import labels as labels
from .wording import list_translations as list_translations
from .wording import ngettext as ngettext
from .wording import set_default_language as set_default_language
from .wording import set_language as set_language
from .wording import short_node_name as short_node_name
from .wording import shorten_text as shorten_text
from .wording import summarize_text as summarize_text
from .wording import text_width as text_width

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
    direction: str = "",
    **named: Any,
) -> "GraphPicture":
    """Draw the autograd graph behind some tensors as a `graphviz.Digraph`, with the same in words.

    >>> net = torch.nn.Linear(2, 1)
    >>> loss = net(torch.ones(1, 2)).sum()
    >>> picture = graph(loss, params=net.named_parameters())
    >>> print(picture.text)
    Graph: 5 nodes.
    loss: made by N1 SumBackward0.
    weight: a leaf that requires grad.
    ...

    The arguments are those of `snapshot`, or a snapshot. With `since`, an earlier snapshot, what is
    new or changed is marked. Nodes, leaves and saved tensors (live, stale, freed) are read from
    torch's `grad_fn`, `next_functions` and `_saved_*`.

    A graph of more than 40 nodes is folded, by module and by what is repeated. As far as there is
    room, nodes with a hazard stay in view, and so does what `find` names: a module, a tensor or a
    kind of node ("layers.3", "softmax"). `fold=False` shows all of it.

    It goes to the right where it fits a page of 836 px, else down; `direction="right"` or "down" says
    which.

    Raises ValueError for another direction; TypeError for an argument that is not a tensor and contains none; ImportError without the
    `graphviz` package; on drawing, LayoutError where no Graphviz can be found.
    """
    snap = read_snapshot(tensors, named, sys._getframe(1), since, values)
    # Read from the room when needed: it imports the graphviz package, which is optional.
    first = next(iter((*tensors, *named.values())), None)
    # Of a dict of variables nobody asked for the first one.
    subject = snap.names[0][1] if snap.names and is_tensor(first) else ""
    return render.GraphPicture(snap, since, find, fold, render.make_room(direction), subject)


def __getattr__(name: str) -> object:
    # GraphPicture needs the graphviz package, and the rest does not.
    if name == "GraphPicture":
        return render.GraphPicture
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
