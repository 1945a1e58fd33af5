"""One drawn thing in several forms: SVG, text, what a notebook shows, a file."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

from .export import write

WIDE = 1_400
_WIDTH = re.compile(r'<svg[^>]* width="(\d+)"')


def bundle(svg: str, text: str) -> dict[str, str]:
    """What a notebook is given: the picture as an <img> whose alternative is the whole text, and that text."""
    data = base64.b64encode(svg.encode()).decode()
    html = f'<img alt="{escape(text)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%">'
    found = _WIDTH.search(svg)
    if found and int(found[1]) > WIDE:
        # Shrunk to the page it could not be read: it keeps most of its size, and the page scrolls it.
        html = html.replace("max-width:100%", f"max-width:none;width:{int(found[1]) * 3 // 4}px")
        html = f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="wide picture">{html}</div>'
    return {"text/html": html, "text/plain": text}


class Picture:
    """A picture with its text twin. `svg` and `text` say the same; both are made once, when asked for."""

    def __init__(self, draw: Callable[[str | None], str], tell: Callable[[], str]) -> None:
        self._draw = draw
        self._tell = tell
        self._svg: dict[str | None, str] = {}
        self._text: str | None = None

    @property
    def svg(self) -> str:
        """The picture as a self-contained SVG document that follows the page's theme."""
        return self.themed(None)

    @property
    def text(self) -> str:
        """Everything that the picture says, in words."""
        if self._text is None:
            self._text = self._tell()
        return self._text

    def themed(self, theme: str | None) -> str:
        """The SVG in one fixed theme, "light", "dark" or "print"; ValueError for another."""
        if theme not in (None, "light", "dark", "print"):
            raise ValueError(f'theme must be "light", "dark" or "print", not {theme!r}')
        if theme not in self._svg:
            self._svg[theme] = self._draw(theme)
        return self._svg[theme]

    def save(self, path: str | Path, theme: str | None = None) -> Path:
        """Write the picture to `path`: .svg, .png or .pdf (both need typst), or .txt for its words.

        `theme` fixes the colours ("light", "dark", "print"); unless told otherwise a PNG is light and a PDF for print.
        Raises ValueError for another ending, ImportError where typst is needed and missing.
        """
        if not write(path, self.themed, lambda: self.text, theme):
            raise ValueError(
                f"cannot save a picture as {Path(path).name!r}: the name must end in .svg, .png, .pdf or .txt"
            )
        return Path(path)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict[str, str]:
        return bundle(self.svg, self.text)
