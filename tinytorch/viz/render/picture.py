"""One drawn thing in several forms: SVG, text, what a notebook shows, a file.

PNG, and PDF with text that can be searched and copied, need the `typst` package, one wheel without anything to install
beside it; nothing else here does. It draws with the fonts of the machine, and brings some of its own for where there
are none.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..wording import format_repr, gettext, gettext_noop
from .layout import LayoutError
from .style import THEMES, fixed

WIDE = 1_400
"""In px: what is wider or higher has a choice of sizes. All others scroll where they do not fit: shrunk, none can be read."""
LARGEST = 300_000
"""So many characters a notebook is given of a picture with folds."""
FRAME = 200
"""What a fold takes beside its line and what it shows."""
LINES = 20_000
"""Kept free for the lines of folds for whose insides there is no room."""
SCALE = 2
"""A PNG has twice the size of the SVG: sharp on today's screens and in print."""
FIXED = {"png": "light", "pdf": "print"}
"""The theme of what has to be in a fixed one: light on a screen, the colours of print on paper."""
MISSING = gettext_noop(
    "saving as PNG or PDF needs the typst package: `pip install typst`, or `pip install copylab[export]`. "
    "Without it: save as .svg, which a browser opens and prints to PDF; .svg, .txt and .dot need nothing"
)
_ZOOM = {
    "fit": gettext_noop("fit to the page"),
    "full": gettext_noop("full size"),
    "twice": gettext_noop("twice as large"),
}
_SIZE = re.compile(r'<svg[^>]* width="(\d+)(?:pt)?" height="(\d+)')
_PAGE = """#set page(width: {w}pt, height: {h}pt, margin: 0pt, fill: none)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)"""


class Folded(NamedTuple):
    """What a picture has folded: a line that stands for it, and what opening it shows."""

    summary: str
    open: Callable[[], tuple[str, str, Sequence[Folded]]]
    """Gives an SVG (or none), the text to it, and what is folded in there again."""


def bundle(svg: str, text: str, folds: Sequence[Folded] = ()) -> dict[str, str]:
    """What a notebook is given: the picture as an <img> whose alternative is the whole text, and that text.

    Below stands what is folded, each to be opened with the mouse or a key, without a script. An <img> and not the SVG
    itself, which JupyterLab takes out of a notebook that it does not trust.
    """
    if not folds:
        return {"text/html": _image(svg, text), "text/plain": text}
    head = _image(svg, text.partition("\n")[0])
    words = Folded(gettext("all of it in words"), lambda: ("", text, ()))
    return {
        "text/html": f"<div>{head}{_opened([*folds, words], LARGEST - LINES - len(head))}</div>",
        "text/plain": text,
    }


def _opened(folds: Sequence[Folded], room: int) -> str:
    """The folds and the folds in these, level by level, as long as there is room."""
    waiting: deque[tuple[tuple[int, ...], Folded]] = deque(
        ((k,), fold) for k, fold in enumerate(folds)
    )
    pieces: dict[tuple[int, ...], tuple[str, str]] = {}
    while waiting:
        where, fold = waiting.popleft()
        svg, text, inner = fold.open()
        body = _image(svg, text) if svg else f"<pre>{_inline(text)}</pre>" if text else ""
        if len(body) > room:
            left_out = gettext(
                "Left out, or all would be too large: find=... shows a part, fold=False all of it."
            )
            body, inner = f"<p>{escape(left_out)}</p>", ()
        room -= len(body) + len(fold.summary) + FRAME
        pieces[where] = fold.summary, body
        waiting.extend(((*where, k), one) for k, one in enumerate(inner))
    inside: dict[tuple[int, ...], str] = {}
    for where in sorted(pieces, reverse=True):
        summary, body = pieces[where]
        line = f'<summary style="cursor:pointer">{_inline(summary)}</summary>'
        made = (
            f'<details style="margin:4px 0 4px 1em">{line}{body}{inside.get(where, "")}</details>'
        )
        inside[where[:-1]] = made + inside.get(where[:-1], "")
    return inside[()]


def _image(svg: str, text: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    html = (
        f'<img alt="{_inline(text)}" src="data:image/svg+xml;base64,{data}" style="max-width:100%">'
    )
    found = _SIZE.search(svg)
    return html if found is None else _zoomed(html, int(found[1]), int(found[2]))


def _zoomed(html: str, width: int, height: int) -> str:
    """A large picture in a box that scrolls, with a choice of sizes above it, which needs no script."""
    if max(width, height) <= WIDE:
        html = html.replace("max-width:100%", "max-width:none")
        return f'<div style="overflow-x:auto">{html}</div>'
    # Shrunk to the page a wide one could not be read.
    full = width
    name = f"tt-{zlib.crc32(html.encode()):x}"
    sizes = {"fit": "100%", "full": f"{full}px", "twice": f"{2 * full}px"}
    rules = "".join(
        f".{name}:has([value={key}]:checked) img{{width:{size}!important}}"
        for key, size in sizes.items()
    )
    choice = "".join(
        f'<label><input type="radio" name="{name}" value="{key}"{" checked" * (key == "full")}> {escape(gettext(said))}</label> '
        for key, said in _ZOOM.items()
    )
    html = html.replace("max-width:100%", f"max-width:none;width:{full}px")
    label = escape(gettext("large picture"))
    html = (
        f'<div style="overflow-x:auto" tabindex="0" role="group" aria-label="{label}">{html}</div>'
    )
    return f'<div class="{name}"><style>{rules}</style>{choice}{html}</div>'


def _inline(text: str) -> str:
    """`text` for HTML, without a raw line break: Markdown would end the HTML at a blank line."""
    return escape(text).replace("\n", "&#10;")


class Shown:
    """What is drawn (`svg`) and told (`text`), and shows itself in a notebook."""

    svg: Any
    text: Any

    def themed(self, theme: str | None) -> str:
        """The SVG in one fixed theme, "light", "dark" or "print"; ValueError for another."""
        if theme is not None and theme not in THEMES:
            raise ValueError(f'theme must be "light", "dark" or "print", not {theme!r}')
        return str(self.svg if theme is None else fixed(self.svg, theme))

    def __str__(self) -> str:
        return str(self.text)

    def __repr__(self) -> str:
        return format_repr(self.title)

    @property
    def title(self) -> str:
        """What it shows, in half a sentence; by default the first line of its words."""
        return str(self.text).partition("\n")[0]

    def _folds(self) -> Sequence[Folded]:
        """What the picture has folded."""
        return ()

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None, **_: Any
    ) -> dict[str, Any]:
        try:
            made = bundle(self.themed(None), self.text, self._folds())
            # Only where it is asked for: a notebook holds the picture once, and nbconvert needs Inkscape for an SVG.
            return (
                made | {"image/svg+xml": self.themed("light")}
                if "image/svg+xml" in (include or ())
                else made
            )
        except LayoutError as error:
            return {"text/plain": f"{self.text}\n\n({error})"}

    def content(self, path: Path, theme: str | None) -> bytes | None:
        """What a file of that name holds, by its ending; None for an ending that is not known."""
        match path.suffix.lower():
            case ".svg":
                return self.themed(theme).encode()
            case ".png" | ".pdf" as ending:
                kind = ending[1:]
                return convert(self.themed(theme or FIXED[kind]), kind)
            case ".txt":
                return f"{self.text}\n".encode()
        return None


class Document(Shown):
    """What is drawn and told, and can be saved as a file of its own."""

    def save(self, path: str | PathLike[str], theme: str | None = None) -> Path:
        """Write the picture to `path`: .svg, .png or .pdf (both need typst), or .txt for its words; give the path back.

        A file of that name is replaced. `theme` fixes the colours ("light", "dark", "print"); by default a PNG is light
        and a PDF for print. Raises, before anything is written: ValueError for another ending, ImportError where typst
        is needed and missing, LayoutError for a picture that cannot be drawn.
        """
        path = Path(path)
        content = self.content(path, theme)
        if content is None:
            raise ValueError(
                f"cannot save a picture as {path.name!r}: the name must end in .svg, .png, .pdf or .txt"
            )
        path.write_bytes(content)
        return path


class Picture(Document):
    """A picture with its text twin. `svg` and `text` say the same; both are made once, when asked for."""

    def __init__(
        self,
        draw: Callable[[], str],
        tell: Callable[[], str],
        folds: Callable[[], Sequence[Folded]] = lambda: (),
        *,
        title: Callable[[], str] | None = None,
        tell_unmarked: Callable[[], str] | None = None,
    ) -> None:
        self._draw, self._tell, self._give, self._title = draw, tell, folds, title
        self._tell_unmarked = tell_unmarked or tell

    @cached_property
    def svg(self) -> str:
        """The picture as a self-contained SVG document that follows the page's theme.

        Raises LayoutError for a graph where neither the WebAssembly build of Graphviz nor `dot` is found.
        """
        return self._draw()

    @cached_property
    def text(self) -> str:
        """Everything that the picture says, in words."""
        return self._tell()

    @property
    def title(self) -> str:
        """What it shows, in half a sentence."""
        return super().title if self._title is None else self._title()

    def unmarked_text(self) -> str:
        """The words without the marks of what changed: the next picture of a run is compared with these."""
        return self._tell_unmarked()

    def _folds(self) -> Sequence[Folded]:
        return self._give()


def convert(svg: str, kind: str) -> bytes:
    """The picture as bytes of a "png" or "pdf" file; ImportError that says what to install without typst.

    `svg` must be in a fixed theme: CSS variables are not known here.
    """
    try:
        import typst
    except ImportError as error:
        raise ImportError(gettext(MISSING)) from error
    size = _SIZE.search(svg)
    w, h = (size[1], size[2]) if size else ("800", "600")
    page = _PAGE.format(w=w, h=h).encode()
    if kind == "pdf":
        made = typst.compile(page, format="pdf", sys_inputs={"svg": svg}, timestamp=0)
    else:
        made = typst.compile(page, format="png", ppi=72.0 * SCALE, sys_inputs={"svg": svg})
    return bytes(made)
