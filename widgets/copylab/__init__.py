"""Pictures and widgets that show what copying a tensor does: over tinytorch and over PyTorch.

    from copylab import steps
    steps("x = torch.ones(3); y = x.clone()")

`steps` runs code line by line and shows memory and graph after each line; `memory`, `graph` and
`snapshot` look at tensors as they are now, and `explain` says what backward would do. `watch` looks
on while a program runs as it is, and names the lines that spoil a gradient. `shared` says what two
things have in common, `growth` what more steps leave alive. Nothing is loaded before it is used.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import find_spec
from itertools import pairwise
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch.viz import (
        explain as explain,
        graph as graph,
        memory as memory,
        snapshot as snapshot,
    )

    from .copying import Comparison as Comparison, compare as compare
    from .copying import Fact as Fact, Facts as Facts, facts as facts
    from .copying import METHODS as METHODS, Method as Method, method as method
    from .copying import Source as Source
    from .course import Progress as Progress, progress as progress
    from .lab import CopyLab as CopyLab
    from .player import Steps as Steps, steps as steps
    from .quiz import Exercise as Exercise, exercise as exercise, wrong as wrong
    from .quiz import Misconception as Misconception, misconception as misconception
    from .quiz import Prediction as Prediction, predict as predict
    from .quiz import Question as Question, Retest as Retest, retest as retest
    from .racing import Race as Race, race as race
    from .sharing import Sharing as Sharing, shared as shared
    from .slopes import GradientCheck as GradientCheck, Slope as Slope
    from .slopes import check_gradients as check_gradients
    from .watching import Finding as Finding, GradientWarning as GradientWarning
    from .watching import Growth as Growth, GrowthOrigin as GrowthOrigin, growth as growth
    from .watching import Watch as Watch, watch as watch

_ROOMS = {
    "tinytorch.viz": "explain graph memory snapshot",
    ".copying": "Comparison Fact Facts METHODS Method Source compare facts method",
    ".course": "Progress progress",
    ".lab": "CopyLab",
    ".player": "Steps steps",
    ".quiz": "Exercise Misconception Prediction Question Retest exercise misconception predict retest wrong",
    ".racing": "Race race",
    ".sharing": "Sharing shared",
    ".slopes": "GradientCheck Slope check_gradients",
    ".watching": "Finding GradientWarning Growth GrowthOrigin Watch growth watch",
}
_HOMES: dict[str, str] = {}
for _room, _names in _ROOMS.items():
    _HOMES |= dict.fromkeys(_names.split(), _room)
__all__ = sorted(_HOMES)  # noqa: PLE0605 - type checkers read the imports above
# One distribution, one literal, which pyproject.toml reads, too.
_HOMES["__version__"] = "tinytorch"


def _check_engine() -> None:
    """Raise ImportError if `tinytorch` is another project's, or what another one left of it.

    The name is taken on the package index and in courses. Whichever is installed last overwrites
    files of the other, and whichever is uninstalled first takes `__init__.py` along.
    """
    spec = find_spec("tinytorch")
    if spec is None:
        return  # Python's own words say it
    # A folder without `__init__.py` has no origin. A loader need not have sources, as that of a
    # frozen program: then nothing is known of it.
    source = getattr(spec.loader, "get_source", lambda _: None)("tinytorch")
    if spec.origin is None:
        found = f"only a rest of it: {', '.join(spec.submodule_search_locations or ())}"
    elif source and "tinytorch.viz" not in source:
        found = f"another project of that name: {spec.origin}"
    else:
        return
    problem = (
        f"copylab needs the tinytorch that comes with it, but `import tinytorch` finds {found}. "
        "Use an environment for copylab alone. Or run `pip uninstall tinytorch`, "
        "then install copylab again as you did, with `--force-reinstall --no-deps`."
    )
    # At the command line the sentence is enough. No code of the command has run yet that could catch
    # an error.
    if _is_command():
        sys.exit(problem)
    raise ImportError(problem)


def _is_command() -> bool:
    """Return True while `copylab` or `python -m copylab` imports this package."""
    program = next(iter(getattr(sys, "argv", ())), "")
    # Python puts the file in the place of "-m" once it has found it, which is after this.
    is_module = program == "-m" and ("-m", "copylab") in pairwise(sys.orig_argv)
    return is_module or PurePath(program).stem == "copylab"


_check_engine()


def load_ipython_extension(shell: Any) -> None:
    """Bring `%%steps`, `%%watch` and `%memory` into a notebook; `%load_ext copylab` calls this."""
    # As in `__getattr__`: the course, with all widgets, is loaded by those who use it alone.
    import_module(".course", __name__).register_magics(shell)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Before the first string is translated: it finds the language of the lessons beside it.
    import_module(".course_folder", __name__)
    # Kept among the globals, so that this function is asked for each name once.
    value = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
