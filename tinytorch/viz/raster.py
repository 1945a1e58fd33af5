"""From SVG to PNG, for where a vector picture cannot go. Needs the `resvg-py` package; nothing else here does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

SCALE = 2
"""Twice the size of the SVG: sharp on today's screens and in print."""


def png(svg: str) -> bytes:
    """The picture as PNG bytes; ImportError that says what to install without resvg-py.

    `svg` must be in a fixed theme: CSS variables are not known here.
    """
    try:
        import resvg_py
    except ImportError as error:
        raise ImportError(
            "saving as PNG needs the resvg-py package: `pip install resvg-py`; .svg and .txt need nothing"
        ) from error
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=SCALE))


def write(path: str | Path, themed: Callable[[str | None], str], text: Callable[[], str], theme: str | None) -> bool:
    """Write a picture as .svg, .png or .txt; False for any other ending."""
    path = Path(path)
    if path.suffix == ".svg":
        path.write_text(themed(theme), encoding="utf-8")
    elif path.suffix == ".png":
        path.write_bytes(png(themed(theme or "light")))
    elif path.suffix == ".txt":
        path.write_text(text() + "\n", encoding="utf-8")
    else:
        return False
    return True
