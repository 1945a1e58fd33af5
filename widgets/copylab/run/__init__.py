"""Running a user's code: read and mark it, watch it, stop it, catch what it prints and does. Nothing else executes any.

May import `tinytorch.viz` and the catalogue of words; knows nothing of widgets, questions or lessons.
"""

from .functions import Thing, from_function
from .program import Into, Program, Site, Text, compiled, tidy
from .recorder import Step
from .run import LIMITS, Limits, Run, execute
from .surroundings import (
    Stop,
    Watch,
    apart,
    checked,
    cut,
    describe_error,
    engine_for,
    meant,
    named,
    notebook_names,
    shown,
    steady,
    tools,
)

__all__ = [
    "LIMITS",
    "Into",
    "Limits",
    "Program",
    "Run",
    "Site",
    "Step",
    "Stop",
    "Text",
    "Thing",
    "Watch",
    "apart",
    "checked",
    "compiled",
    "cut",
    "describe_error",
    "engine_for",
    "execute",
    "from_function",
    "meant",
    "named",
    "notebook_names",
    "shown",
    "steady",
    "tidy",
    "tools",
]
