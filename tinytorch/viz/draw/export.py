"""From SVG to files of other kinds: PNG, and PDF with text that can be searched and copied.

Needs the `typst` package, one wheel without anything to install beside it; nothing else here does. It draws with the
fonts of the machine, and brings some of its own for where there are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

SCALE = 2
"""Twice the size of the SVG: sharp on today's screens and in print."""
MISSING = (
    "saving as PNG or PDF needs the typst package: `pip install typst`, or `pip install copylab[export]`. "
    "Without it: save as .svg, which a browser opens and prints to PDF; .svg, .txt and .dot need nothing"
)
_SIZE = re.compile(r'<svg[^>]* width="(\d+)(?:pt)?" height="(\d+)')
_PAGE = """#set page(width: {w}pt, height: {h}pt, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)"""


def convert(svg: str, kind: str) -> bytes:
    """The picture as bytes of a "png" or "pdf" file; ImportError that says what to install without typst.

    `svg` must be in a fixed theme: CSS variables are not known here.
    """
    try:
        import typst
    except ImportError as error:
        raise ImportError(MISSING) from error
    size = _SIZE.search(svg)
    w, h = (size[1], size[2]) if size else ("800", "600")
    page = _PAGE.format(w=w, h=h).encode()
    if kind == "pdf":
        made = typst.compile(page, format="pdf", sys_inputs={"svg": svg}, timestamp=0)
    else:
        made = typst.compile(page, format="png", ppi=72.0 * SCALE, sys_inputs={"svg": svg})
    return bytes(made)


def write(path: str | Path, themed: Callable[[str | None], str], text: Callable[[], str], theme: str | None) -> bool:
    """Write a picture as .svg, .png, .pdf or .txt; False for any other ending.

    What has to be in a fixed theme is light on a screen (.png) and in the colours of print on paper (.pdf).
    """
    path = Path(path)
    if path.suffix == ".svg":
        path.write_text(themed(theme), encoding="utf-8")
    elif path.suffix in (".png", ".pdf"):
        default = "light" if path.suffix == ".png" else "print"
        path.write_bytes(convert(themed(theme or default), path.suffix[1:]))
    elif path.suffix == ".txt":
        path.write_text(text() + "\n", encoding="utf-8")
    else:
        return False
    return True
