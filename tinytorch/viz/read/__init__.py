"""Snapshots: plain data about the tensors of either engine."""

from .blocks import HUES
from .cell_summary import CellSummary
from .doubts import doubts_of_modes, find_hooks
from .formulas import FormulaUse, find_formula_use
from .graph_exits import (
    EXIT_FINDERS,
    FREED_GRAPH_FINDERS,
    MAKING_LINE_FINDERS,
    NO_GRAPH_FINDERS,
    ExitKind,
    GraphExit,
    find_freed_lines,
    find_lines_without_graph,
)
from .leaves import find_graph_nodes, find_leaves
from .module_paths import modules
from .naming import (
    PARAM_GROUPS,
    choose_objects_of_program,
    collect_tensors,
    collect_tensors_by_name,
    is_added_name,
    is_library_frame,
    is_module,
    things_in,
)
from .probe import (
    StaleVersions,
    can_wait_for,
    disable_overrides,
    engine_name,
    getattr_or_none,
    grad_fn_or_none,
    is_observed,
    is_tensor,
    parse_stale_versions,
    version_of,
)
from .random_states import RandomStates
from .reader import (
    THREADS_IN_LOOK,
    list_tensors_behind,
    mark_look,
    pause_garbage_collection,
    read_snapshot,
    snapshot,
)
from .records import (
    GradientSpec,
    NodeRecord,
    OverlapIndex,
    SavedRecord,
    StorageRecord,
    TensorRecord,
)
from .retained_gradients import RetainedGradients
from .save_comparison import SaveUnderWatch
from .sharing import FoundSharing, SharedFact, find_sharing
from .snapshots import Snapshot
from .user_code import COMPARISON_FINDERS, describe_code

__all__ = [
    "COMPARISON_FINDERS",
    "EXIT_FINDERS",
    "FREED_GRAPH_FINDERS",
    "HUES",
    "MAKING_LINE_FINDERS",
    "NO_GRAPH_FINDERS",
    "PARAM_GROUPS",
    "THREADS_IN_LOOK",
    "CellSummary",
    "ExitKind",
    "FormulaUse",
    "FoundSharing",
    "GradientSpec",
    "GraphExit",
    "NodeRecord",
    "OverlapIndex",
    "RandomStates",
    "RetainedGradients",
    "SaveUnderWatch",
    "SavedRecord",
    "SharedFact",
    "Snapshot",
    "StaleVersions",
    "StorageRecord",
    "TensorRecord",
    "can_wait_for",
    "choose_objects_of_program",
    "collect_tensors",
    "collect_tensors_by_name",
    "describe_code",
    "disable_overrides",
    "doubts_of_modes",
    "engine_name",
    "find_formula_use",
    "find_freed_lines",
    "find_graph_nodes",
    "find_hooks",
    "find_leaves",
    "find_lines_without_graph",
    "find_sharing",
    "getattr_or_none",
    "grad_fn_or_none",
    "is_added_name",
    "is_library_frame",
    "is_module",
    "is_observed",
    "is_tensor",
    "list_tensors_behind",
    "mark_look",
    "modules",
    "parse_stale_versions",
    "pause_garbage_collection",
    "read_snapshot",
    "snapshot",
    "things_in",
    "version_of",
]
