"""Where the lessons lie, and the guides."""

from collections.abc import Iterable
from pathlib import Path

from tinytorch.viz.catalogue import gettext

_HERE = Path(__file__).resolve().parents[1]  # the package


def lessons() -> Path:
    """Return the folder with the lessons as published."""
    return published() / "notebooks"


def published() -> Path:
    """Return the folder that has lessons, guides and changelog in it: the installed package, or else a clone."""
    return _HERE if (_HERE / "notebooks").is_dir() else _HERE.parents[1]


def meant(lesson: str, names: Iterable[str]) -> str:
    """Return which of these lessons somebody means by `02_clone`, `clone` or `02`. ValueError if it is none of them."""
    known = list(names)
    for name in known:
        if lesson in (name, *name.split("_", 1)):
            return name
    raise ValueError(
        gettext("There is no lesson {lesson!r}. There are: {there}", lesson=lesson, there=", ".join(known))
    )
