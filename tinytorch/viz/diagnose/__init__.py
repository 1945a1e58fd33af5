"""What changed between two snapshots, what backward will do, and which line is to blame."""

from .blame import Blame, PastStep, blame_lines, mark_raised
from .diff import Changes, compare_snapshots, list_written_names
from .dry_run import silence_warnings
from .explanation import Explanation, explain
from .finding_records import (
    SavedEntry,
    list_saved,
)
from .gradient_comparison import (
    THREADS_ON_SAVED_VALUES,
    GradientPair,
    compare_gradients,
)
from .hazards import find_maybe_written_memory, find_stale_saved, name_maybe_writers
from .no_grad_reasons import describe_why_no_grad
from .optimizers import describe_replaced, find_replaced, list_stepped
from .refusals import Refusal, find_refusals, find_refusals_of_snapshot, phrase_refusal
from .shared_phrases import (
    add_lines_that_wrote,
    phrase_all_writes,
    phrase_consequence,
    phrase_lines_that_wrote,
    phrase_versions_then_and_now,
)
from .unreached import describe_exits

__all__ = [
    "THREADS_ON_SAVED_VALUES",
    "Blame",
    "Changes",
    "Explanation",
    "GradientPair",
    "PastStep",
    "Refusal",
    "SavedEntry",
    "add_lines_that_wrote",
    "blame_lines",
    "compare_gradients",
    "compare_snapshots",
    "describe_exits",
    "describe_replaced",
    "describe_why_no_grad",
    "explain",
    "find_maybe_written_memory",
    "find_refusals",
    "find_refusals_of_snapshot",
    "find_replaced",
    "find_stale_saved",
    "list_saved",
    "list_stepped",
    "list_written_names",
    "mark_raised",
    "name_maybe_writers",
    "phrase_all_writes",
    "phrase_consequence",
    "phrase_lines_that_wrote",
    "phrase_refusal",
    "phrase_versions_then_and_now",
    "silence_warnings",
]
