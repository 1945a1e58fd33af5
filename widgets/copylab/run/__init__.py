"""Running a user's code: read and mark it, watch it, stop it, catch what it prints and does.

Nothing else executes any.

May import `tinytorch.viz` and the catalogue of words; knows nothing of widgets, questions or
lessons.
"""

from .cell_outcomes import CELL_OUTCOMES, CellOutcome
from .cells import CELL_NUMBERS, name_of_file
from .functions import Steppable, program_from_function
from .program import FunctionChoice, Program, Site, SourceText, compile_program, dedent_code
from .recorder import Step
from .run import LIMITS, Limits, RecordedRun, execute_program
from .script import script_session
from .self_contained import is_self_contained, list_bound_names
from .surroundings import (
    Stop,
    Stopwatch,
    choose_engine,
    describe_error,
    engine_for,
    find_engine,
    make_builtins,
    make_printable,
    notebook_names,
    repeatable_session,
    require_engine,
    stabilize_text,
    truncate_text,
)

__all__ = [
    "CELL_NUMBERS",
    "CELL_OUTCOMES",
    "LIMITS",
    "CellOutcome",
    "FunctionChoice",
    "Limits",
    "Program",
    "RecordedRun",
    "Site",
    "SourceText",
    "Step",
    "Steppable",
    "Stop",
    "Stopwatch",
    "choose_engine",
    "compile_program",
    "dedent_code",
    "describe_error",
    "engine_for",
    "execute_program",
    "find_engine",
    "is_self_contained",
    "list_bound_names",
    "make_builtins",
    "make_printable",
    "name_of_file",
    "notebook_names",
    "program_from_function",
    "repeatable_session",
    "require_engine",
    "script_session",
    "stabilize_text",
    "truncate_text",
]
