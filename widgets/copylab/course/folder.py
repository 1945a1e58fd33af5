"""Where the lessons lie."""

from pathlib import Path

_HERE = Path(__file__).resolve().parents[1]  # the package


def lessons() -> Path:
    """Return the folder with the lessons as published: inside the installed package, or beside it in a clone."""
    inside = _HERE / "notebooks"
    return inside if inside.is_dir() else _HERE.parents[1] / "notebooks"
