"""The explorer `CopyLab`: choose how to copy and what, act on both, see what came of it.

May import `run`, `copying`, `player`, `ui`, `doc`, `tinytorch.viz`.
"""

from .explorer import CopyLab

__all__ = ["CopyLab"]
