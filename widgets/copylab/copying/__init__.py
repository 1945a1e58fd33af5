"""Ways to copy a tensor, what is copied, and what each way does: found by running small programs, shown side by side.

May import `run`, `ui`, `doc`.
"""

from .comparison import Comparison, classify_answer, compare, join_code_lines, make_cell
from .fact import QUESTIONS, Answer, Fact, Facts, facts
from .methods import METHODS, OPERATIONS, Method, find_word, method
from .program_copies import ChangedProgram, ProgramCopy, exchange_copies, find_program_copies
from .shared_memory import DTYPES, LAYOUTS, Shared, SharedMemory, find_all_sharing
from .sources import Source

__all__ = [
    "DTYPES",
    "LAYOUTS",
    "METHODS",
    "OPERATIONS",
    "QUESTIONS",
    "Answer",
    "ChangedProgram",
    "Comparison",
    "Fact",
    "Facts",
    "Method",
    "ProgramCopy",
    "Shared",
    "SharedMemory",
    "Source",
    "classify_answer",
    "compare",
    "exchange_copies",
    "facts",
    "find_all_sharing",
    "find_program_copies",
    "find_word",
    "join_code_lines",
    "make_cell",
    "method",
]
