"""Pictures and widgets that show what copying a tensor does: over tinytorch and over PyTorch.

    from copylab import steps
    steps("x = torch.ones(3); y = x.clone()")

`steps` runs code line by line and shows memory and graph after each line; `memory`, `graph` and `snapshot` look at
tensors as they are now, and `explain` says what backward would do. `watch` looks on while a program runs as it is, and
names the lines that spoil a gradient. Nothing is loaded before it is used.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch.viz import explain, graph, memory, snapshot

    from .copying.comparison import Comparison, compare
    from .copying.facts import Fact, Facts, facts
    from .copying.methods import METHODS, Method, method
    from .copying.sources import Source
    from .course.overview import Progress, progress
    from .lab.explorer import CopyLab
    from .player.steps import Steps, steps
    from .quiz.exercises import Exercise, exercise, wrong
    from .quiz.misconceptions import Misconception, misconception
    from .quiz.prediction import Prediction, predict
    from .quiz.question import Question
    from .timing.race import Race, race
    from .watching.findings import Finding, GradientWarning
    from .watching.observer import Watch, watch

__all__ = [
    "METHODS",
    "Comparison",
    "CopyLab",
    "Exercise",
    "Fact",
    "Facts",
    "Finding",
    "GradientWarning",
    "Method",
    "Misconception",
    "Prediction",
    "Progress",
    "Question",
    "Race",
    "Source",
    "Steps",
    "Watch",
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
    "watch",
    "wrong",
]

_HOMES = {
    "CopyLab": ".lab.explorer",
    "Comparison": ".copying.comparison",
    "Exercise": ".quiz.exercises",
    "Fact": ".copying.facts",
    "Facts": ".copying.facts",
    "Finding": ".watching.findings",
    "GradientWarning": ".watching.findings",
    "METHODS": ".copying.methods",
    "Method": ".copying.methods",
    "Misconception": ".quiz.misconceptions",
    "Prediction": ".quiz.prediction",
    "Progress": ".course.overview",
    "Question": ".quiz.question",
    "Race": ".timing.race",
    "race": ".timing.race",
    "Source": ".copying.sources",
    "Steps": ".player.steps",
    "Watch": ".watching.observer",
    "compare": ".copying.comparison",
    "exercise": ".quiz.exercises",
    "explain": "tinytorch.viz",
    "facts": ".copying.facts",
    "graph": "tinytorch.viz",
    "memory": "tinytorch.viz",
    "method": ".copying.methods",
    "misconception": ".quiz.misconceptions",
    "predict": ".quiz.prediction",
    "progress": ".course.overview",
    "snapshot": "tinytorch.viz",
    "steps": ".player.steps",
    "watch": ".watching.observer",
    "wrong": ".quiz.exercises",
    "__version__": "tinytorch",  # one distribution, one literal, which pyproject.toml reads, too
}


def _check_engine() -> None:
    """Raise ImportError if `tinytorch` is another project's: its name is taken on the index, and in courses."""
    found = find_spec("tinytorch")
    source = getattr(found and found.loader, "get_source", lambda _: None)("tinytorch")
    if source and "tinytorch.viz" not in source:
        raise ImportError(
            "copylab needs the tinytorch that comes with it, but `import tinytorch` finds another project of that "
            f"name: {found and found.origin}. Use an environment for copylab alone. Or run `pip uninstall tinytorch`, "
            "then `pip install --force-reinstall --no-deps copylab`."
        )


_check_engine()


def load_ipython_extension(shell: Any) -> None:
    """Bring `%%steps` and `%memory` into a notebook or IPython: this is what `%load_ext copylab` calls."""
    from .course.magics import load

    load(shell)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
