"""The race: ways to copy timed against each other, and only what is certain said of the result.

May import `run`, `copying`, `ui`, `doc`, the colours of `tinytorch.viz`.
"""

from .racing import Race, race

__all__ = ["Race", "race"]
