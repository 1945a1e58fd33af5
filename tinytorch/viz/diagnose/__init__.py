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
    "stale",
    "troubles",
    "written",
]
