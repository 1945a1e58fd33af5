"""Pictures and widgets that show what copying a tensor does: over tinytorch and over PyTorch.

    from copylab import steps
    steps("x = torch.ones(3); y = x.clone()")

`steps` runs code line by line and shows memory and graph after each line; `memory`, `graph` and `snapshot` look at
tensors as they are now, and `explain` says what backward would do. Nothing is loaded before it is used.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch.viz import explain, graph, memory, snapshot

    from .compare import Comparison, compare
    from .exercise import Exercise, exercise
    from .facts import Fact, Facts, facts
    from .lab import CopyLab
    from .methods import METHODS, Method, method
    from .misconceptions import Misconception, misconception
    from .predict import Prediction, predict
    from .progress import Progress, progress
    from .questions import Question
    from .race import Race, race
    from .sources import Source
    from .stepping import Steps, steps

__all__ = [
    "METHODS",
    "Comparison",
    "CopyLab",
    "Exercise",
    "Fact",
    "Facts",
    "Method",
    "Misconception",
    "Prediction",
    "Progress",
    "Question",
    "Race",
    "Source",
    "Steps",
    "compare",
    "exercise",
    "explain",
    "facts",
    "graph",
    "memory",
    "method",
    "misconception",
    "predict",
    "progress",
    "race",
    "snapshot",
    "steps",
]

_HOMES = {
    "CopyLab": ".lab",
    "Comparison": ".compare",
    "Exercise": ".exercise",
    "Fact": ".facts",
    "Facts": ".facts",
    "METHODS": ".methods",
    "Method": ".methods",
    "Misconception": ".misconceptions",
    "Prediction": ".predict",
    "Progress": ".progress",
    "Question": ".questions",
    "Race": ".race",
    "race": ".race",
    "Source": ".sources",
    "Steps": ".stepping",
    "compare": ".compare",
    "exercise": ".exercise",
    "explain": "tinytorch.viz",
    "facts": ".facts",
    "graph": "tinytorch.viz",
    "memory": "tinytorch.viz",
    "method": ".methods",
    "misconception": ".misconceptions",
    "predict": ".predict",
    "progress": ".progress",
    "snapshot": "tinytorch.viz",
    "steps": ".stepping",
}


def load_ipython_extension(shell: Any) -> None:
    """Bring `%%steps` and `%memory` into a notebook or IPython: this is what `%load_ext copylab` calls."""
    from .magics import load

    load(shell)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])


class _Package(ModuleType):
    """A package in which `facts` is the function, whether or not the module of the same name has been loaded."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (isinstance(value, ModuleType) and name in _HOMES):  # import leaves each loaded module here
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
