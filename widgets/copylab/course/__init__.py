"""The course: laying out lessons, translations, the cheat sheet, the magics, progress.

May import every other room.
"""

from .command import main
from .magics import register_magics
from .overview import Progress, progress

__all__ = ["Progress", "main", "progress", "register_magics"]
