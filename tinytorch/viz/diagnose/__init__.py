"""What changed between two snapshots, what backward will do, and which line is to blame."""

from .blame import Blame, PastStep, blame_lines
from .diff import Changes, compare_snapshots, list_written_names
from .explanation import Explanation, explain
from .hazards import (
    describe_hazards,
    describe_hazards_out_of_sight,
    find_possible_writers,
    find_stale_saved,
)

__all__ = [
    "Blame",
    "Changes",
    "Explanation",
    "PastStep",
    "blame_lines",
    "compare_snapshots",
    "describe_hazards",
    "describe_hazards_out_of_sight",
    "explain",
    "find_possible_writers",
    "find_stale_saved",
    "list_written_names",
]
