"""Watch a program as it runs: which write changed what a graph had saved, and does PyTorch say so.

In reading order, from `watch()` to a finding:

`observer`       the watch: it begins and ends, is called for each save, write and read
`scope`          engines that are imported and threads that are started while a watch is on
`on_torch`       the calls out of PyTorch: hooks on saved tensors, and a dispatch mode for writes
`on_tinytorch`   the same calls out of tinytorch
`dispatch_modes` modes of PyTorch's that neither the compiler nor other threads notice
`watched_save`   one saved tensor: its bytes when it was saved, and the writes to its memory since
`places`         the line of the program that is running; `cells` names the cells of a notebook
`node_lines`     the lines that made nodes, and the graph that a second backward meets; `freed_findings`
`exits`          the lines on which values leave the graph, with the leaves they came from
`no_graph_findings` a backward on what requires no grad, with those lines; `name_flow` says which are likely
`tinytorch_exits` the ways by which they do in tinytorch
`missing`        what optimizers step although it never has a gradient
`aliases`        the names under which the program knows the saved memory
`formulas`       what the formula of a node reads of what it saved
`findings`       what is reported, with the line that saved and the line that wrote
`tracebacks`     what an error shows of its way, without frames of a watch
`plugin`         a user's tests under a watch; `program` a whole program, `processes` several of them

And what more steps leave alive: `growth`, over `allocations` (the memory that operations make) and
`holders` (the names that hold it).
"""

from .findings import Finding, GradientWarning
from .growth import Growth, GrowthOrigin, growth
from .observer import Watch, watch
from .program import run_watched
from .tracebacks import drop_own_frames
from .watched_backward import GradientNumbers

__all__ = [
    "Finding",
    "GradientNumbers",
    "GradientWarning",
    "Growth",
    "GrowthOrigin",
    "Watch",
    "drop_own_frames",
    "growth",
    "run_watched",
    "watch",
]
