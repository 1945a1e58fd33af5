"""Around the lessons: the command that lays them out, translations, the cheat sheet, the magics, what is done so far.

May import every other room.
"""

from .magics import load
from .overview import Progress, progress

__all__ = ["Progress", "load", "progress"]
