"""A picture in all its forms: SVG, text, what a notebook displays, a file.

PNG, and PDF with text that can be searched and copied, need the `typst` package: one wheel that
needs nothing else installed, and that has fonts of its own for machines without any.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from ..wording import cached_property_in_language, format_repr, gettext, gettext_noop
from .layout import LayoutError
from .style import THEMES, fix_theme

MOST_UNSCROLLED = 1_400
"""In px: what is wider or higher has a choice of sizes. All others scroll where they do not fit:
shrunk, none can be read."""
LEAST_SCALE = 11 / 12
"""So small a picture gets on a telephone, to be seen whole: its text has 11 px then."""
MOST_CHARACTERS = 300_000
"""How many characters a notebook gets of a picture with folds."""
FOLD_FRAME = 200
"""How many characters a fold takes besides its line and its content."""
ROOM_FOR_LINES = 20_000
"""Kept free for the lines of folds for whose contents there is no room."""
SCALE = 2
"""A PNG has twice the size of the SVG: sharp on today's screens and in print."""
FIXED = {"png": "light", "pdf": "print"}
"""The theme of files that cannot follow a page: light on a screen, the colours of print on paper."""
TYPST_MISSING = gettext_noop(
    "saving as PNG or PDF needs the typst package: `pip install typst`, or `pip install 'copylab[export]'`. "
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
Position = tuple[int, ...]
"""Of a fold: its number among the folds, the number of the fold inside of that, and so on."""


class Folded(NamedTuple):
    """Something that a picture has folded: a line that stands for it, and what opening it shows."""

    summary: str
    """The line that stands for it."""
    open: Callable[[], tuple[str, str, Sequence[Folded]]]
    """Makes an SVG (or ""), its text, and the folds in it."""


def make_bundle(svg: str, text: str, folds: Sequence[Folded] = ()) -> dict[str, str]:
    """Make what a notebook displays: the picture as an <img>, and its text in a fold below it.

    With it are the other folds, each to be opened with the mouse or a key, without a script. An <img>
    and not the SVG itself: JupyterLab removes an SVG from a notebook that it does not trust.
    """
    # One line is the alternative of the image, and needs no fold.
    if not folds and "\n" not in text:
        return {"text/html": _image_html(svg, text), "text/plain": text}
    image = _image_html(svg, text.partition("\n")[0])
    in_words = Folded(gettext("this picture in words"), lambda: ("", text, ()))
    details = _folds_html([*folds, in_words], MOST_CHARACTERS - ROOM_FOR_LINES - len(image))
    return {"text/html": f"<div>{image}{details}</div>", "text/plain": text}


def _folds_html(folds: Sequence[Folded], room: int) -> str:
    """Return folds as <details> elements, and folds in these, as long as there is room.

    Level by level, so that what is nearest to the picture has the room.
    """
    queue: deque[tuple[Position, Folded]] = deque()
    for number, fold in enumerate(folds):
        queue.append(((number,), fold))
    bodies: dict[Position, tuple[str, str]] = {}
    while queue:
        position, fold = queue.popleft()
        svg, text, inner = fold.open()
        body = ""
        if svg:
            body = _image_html(svg, text)
        elif text:
            body = f"<pre>{_escape_inline(text)}</pre>"
        if len(body) > room:
            left_out = gettext(
                "Parts are left out, since all of it would be too large: find=... shows a "
                "part, fold=False shows everything."
            )
            body, inner = f"<p>{escape(left_out)}</p>", ()
        room -= len(body) + len(fold.summary) + FOLD_FRAME
        bodies[position] = fold.summary, body
        for number, child in enumerate(inner):
            queue.append(((*position, number), child))
    inside: dict[Position, str] = {}
    # Backwards: what is inside of a fold is complete before the fold itself.
    for position in sorted(bodies, reverse=True):
        summary, body = bodies[position]
        line = f'<summary style="cursor:pointer">{_escape_inline(summary)}</summary>'
        content = f"{line}{body}{inside.get(position, '')}"
        details = f'<details style="margin:4px 0 4px 1em">{content}</details>'
        inside[position[:-1]] = details + inside.get(position[:-1], "")
    return inside[()]


def _image_html(svg: str, text: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    source = f"data:image/svg+xml;base64,{data}"
    html = f'<img alt="{_escape_inline(text)}" src="{source}" style="max-width:100%">'
    size = _SIZE.search(svg)
    if size is None:
        return html
    return _scroll_box(html, int(size[1]), int(size[2]))


def _scroll_box(html: str, width: int, height: int) -> str:
    """Put a picture into a box that scrolls; a large one with a choice of sizes, without a script."""
    if max(width, height) <= MOST_UNSCROLLED:
        least = int(LEAST_SCALE * width)
        sizes = f"width:100%;min-width:{least}px;max-width:{width}px"
        html = html.replace("max-width:100%", sizes)
        return f'<div style="overflow-x:auto;padding-top:8px">{html}</div>'
    # A class of its own: several pictures on one page have different sizes. Not of
    # hash(), which is another for the same text in each process.
    name = f"tt-{zlib.crc32(html.encode()):x}"
    sizes = {"fit": "100%", "full": f"{width}px", "twice": f"{2 * width}px"}
    rules = ""
    # `:has` and not a script: a notebook that is not trusted runs none.
    for key, size in sizes.items():
        rules += f".{name}:has([value={key}]:checked) img{{width:{size}!important}}"
    choices = []
    for key, label in _ZOOM.items():
        # Shrunk to the page, it cannot be read.
        checked = " checked" if key == "full" else ""
        button = f'<input type="radio" name="{name}" value="{key}"{checked}>'
        choices.append(f"<label>{button} {escape(gettext(label))}</label> ")
    html = html.replace("max-width:100%", f"max-width:none;width:{width}px")
    label = escape(gettext("large picture"))
    # With a tabindex, the keys scroll it.
    attributes = f'style="overflow-x:auto" tabindex="0" role="group" aria-label="{label}"'
    box = f"<div {attributes}>{html}</div>"
    return f'<div class="{name}"><style>{rules}</style>{"".join(choices)}{box}</div>'


def _escape_inline(text: str) -> str:
    """Escape `text` for HTML without a raw line break: Markdown ends the HTML at a blank line."""
    return escape(text).replace("\n", "&#10;")


class PictureBase:
    """Something with a drawing (`svg`) and a text, which displays itself in a notebook."""

    svg: Any
    text: Any

    def svg_in_theme(self, theme: str | None) -> str:
        """Return the SVG in a fixed theme ("light", "dark", "print"), or as it is; else ValueError."""
        if theme is not None and theme not in THEMES:
            raise ValueError(f'theme must be "light", "dark" or "print", not {theme!r}')
        return str(self.svg if theme is None else fix_theme(self.svg, theme))

    def __str__(self) -> str:
        return str(self.text)

    def __repr__(self) -> str:
        return format_repr(self.title)

    @property
    def title(self) -> str:
        """What it shows, in half a sentence; by default the first line of its text."""
        return str(self.text).partition("\n")[0]

    def _folded_parts(self) -> Sequence[Folded]:
        """Return what the picture has folded."""
        return ()

    def _repr_mimebundle_(
        self, include: Any = None, exclude: Any = None, **_: Any
    ) -> dict[str, Any]:
        try:
            bundle = make_bundle(self.svg_in_theme(None), self.text, self._folded_parts())
            # Only if it is asked for (IPython passes None where nothing is): a notebook has the
            # picture once, and nbconvert needs Inkscape for an SVG.
            if "image/svg+xml" in (include or ()):
                bundle["image/svg+xml"] = self.svg_in_theme("light")
            return bundle
        # The words need no Graphviz: they are shown, with how to get the drawing.
        except LayoutError as error:
            return {"text/plain": f"{self.text}\n\n({error})"}

    def content(self, path: Path, theme: str | None) -> bytes | None:
        """Return the content of a file of that name, by its ending; None for an unknown ending."""
        match path.suffix.lower():
            case ".svg":
                return self.svg_in_theme(theme).encode()
            # A file cannot follow the theme of a page.
            case ".png" | ".pdf" as ending:
                kind = ending[1:]
                return convert(self.svg_in_theme(theme or FIXED[kind]), kind)
            case ".txt":
                return f"{self.text}\n".encode()
        return None


class Document(PictureBase):
    """A drawing with a text that can be saved as a file."""

    def save(self, path: str | PathLike[str], theme: str | None = None) -> Path:
        """Write the picture to `path`: .svg, .png or .pdf (both need typst), or .txt; return the path.

        A file of that name is replaced. `theme` fixes the colours ("light", "dark", "print"); by
        default a PNG is light and a PDF for print. Raises, before anything is written: ValueError
        for another ending, ImportError if typst is needed and missing, LayoutError for a picture
        that cannot be drawn.
        """
        path = Path(path)
        # Made whole before the file is opened: if it cannot be drawn, the old file stays.
        content = self.content(path, theme)
        if content is None:
            raise ValueError(
                f"cannot save a picture as {path.name!r}: "
                "the name must end in .svg, .png, .pdf or .txt"
            )
        path.write_bytes(content)
        return path


class Picture(Document):
    """A picture with its text twin: `svg` and `text` say the same.

    Both are made when they are first used, and anew in another language.
    """

    def __init__(
        self,
        draw: Callable[[], str],
        write_text: Callable[[], str],
        list_folds: Callable[[], Sequence[Folded]] = tuple,
        *,
        make_title: Callable[[], str] | None = None,
        write_unmarked: Callable[[], str] | None = None,
    ) -> None:
        self._draw = draw
        self._write_text = write_text
        self._list_folds = list_folds
        self._make_title = make_title
        self._write_unmarked = write_unmarked or write_text

    @cached_property_in_language
    def svg(self) -> str:
        """The picture as a self-contained SVG document that follows the page's theme.

        Raises LayoutError for a graph if neither the WebAssembly build of Graphviz nor `dot` is found.
        """
        return self._draw()

    @cached_property_in_language
    def text(self) -> str:
        """Everything that the picture says, in words."""
        return self._write_text()

    @property
    def title(self) -> str:
        """What it shows, in half a sentence."""
        if self._make_title is None:
            return super().title
        return self._make_title()

    def unmarked_text(self) -> str:
        """Return the text without marks of what changed, to compare the next step of a run with."""
        return self._write_unmarked()

    def _folded_parts(self) -> Sequence[Folded]:
        return self._list_folds()


def convert(svg: str, kind: str) -> bytes:
    """Convert an SVG into the bytes of a "png" or "pdf" file.

    `svg` must be in a fixed theme: typst knows no CSS variables. Raises ImportError, which says
    what to install, without typst.
    """
    try:
        import typst
    except ImportError as error:
        raise ImportError(gettext(TYPST_MISSING)) from error
    size = _SIZE.search(svg)
    width, height = (size[1], size[2]) if size else ("800", "600")
    page = _PAGE.format(w=width, h=height).encode()
    if kind == "pdf":
        # A fixed time, so that the same picture is the same file.
        content = typst.compile(page, format="pdf", sys_inputs={"svg": svg}, timestamp=0)
    else:
        content = typst.compile(page, format="png", ppi=72.0 * SCALE, sys_inputs={"svg": svg})
    return bytes(content)
