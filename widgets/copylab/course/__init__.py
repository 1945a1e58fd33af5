"""The course around the lessons: laying them out, translations, the cheat sheet, the magics, the learner's progress.

May import every other room.
"""

from .magics import load
from .overview import Progress, progress

__all__ = ["Progress", "load", "progress"]
