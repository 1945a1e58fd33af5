"""The step-through: one frame for each step of a run, its static page, and the player in JavaScript (`web/`).

May import `run`, `ui`, `doc`, `tinytorch.viz`.
"""

from .frames import Looker, Seen, wrong_gradient
from .player import Choice, Steps, step, steps

__all__ = ["Choice", "Looker", "Seen", "Steps", "step", "steps", "wrong_gradient"]
