"""What changed between two snapshots, and what backward will do."""

from .diff import Changes, changes, written
from .explanation import (
    Blame,
    Explanation,
    Past,
    blame,
    explain,
    nameless,
    perhaps,
    stale,
    troubles,
)
from .hazards import reached

__all__ = [
    "Blame",
    "Changes",
    "Explanation",
    "Past",
    "blame",
    "changes",
    "explain",
    "nameless",
    "perhaps",
    "reached",
    "stale",
    "troubles",
    "written",
]
