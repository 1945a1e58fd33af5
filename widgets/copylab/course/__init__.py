"""The course: laying out lessons, translations, the cheat sheet, the magics, progress.

May import every other room.
"""

from .command import main
from .magics import load
from .overview import Progress, progress

__all__ = ["Progress", "load", "main", "progress"]
