"""The step-through: one frame for each step of a run, its static page, and the player.

The player is JavaScript, in `web/`. May import `run`, `watching`, `copying`, `ui`,
`doc`, `tinytorch.viz`.
"""

from .frames import (
    Frame,
    NameObserver,
    Observation,
    collect_code_words,
    explain_error,
    find_origins_at_end,
    is_of_program,
    wrong_gradient_title,
)
from .player import StepOptions, Steps, step_program, steps
from .program import SECONDS, print_steps

__all__ = [
    "SECONDS",
    "Frame",
    "NameObserver",
    "Observation",
    "StepOptions",
    "Steps",
    "collect_code_words",
    "explain_error",
    "find_origins_at_end",
    "is_of_program",
    "print_steps",
    "step_program",
    "steps",
    "wrong_gradient_title",
]
