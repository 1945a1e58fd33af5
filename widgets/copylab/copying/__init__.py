"""Ways to copy a tensor, what is copied, and what each way does: found by running small programs, shown side by side.

May import `run`, `ui`, `doc`.
"""

from .comparison import Comparison, compare, join_code_lines, make_cell
from .fact import QUESTIONS, Answer, Fact, Facts, facts
from .methods import METHODS, Method, method
from .sources import Source

__all__ = [
    "METHODS",
    "QUESTIONS",
    "Answer",
    "Comparison",
    "Fact",
    "Facts",
    "Method",
    "Source",
    "compare",
    "facts",
    "join_code_lines",
    "make_cell",
    "method",
]
