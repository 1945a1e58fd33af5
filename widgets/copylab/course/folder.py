"""Where the lessons lie, and the guides."""

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]  # the package


def lessons() -> Path:
    """Return the folder with the lessons as published."""
    return published() / "notebooks"


def published() -> Path:
    """Return the folder that has lessons, guides and changelog in it: the installed package, or else a clone."""
    return _HERE if (_HERE / "notebooks").is_dir() else _HERE.parents[1]
