"""What changed between two snapshots, and what backward will do."""

from .diff import Changes, compare_snapshots, list_written_names
from .explanation import (
    Blame,
    Explanation,
    PastStep,
    blame_lines,
    describe_hazards,
    describe_hazards_out_of_sight,
    explain,
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
