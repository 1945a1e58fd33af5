"""What all pictures share: colours, escaping and a small SVG writer.

Every colour is `var(--tt-NAME, ...)`: a page that has the SVG inline may set the variables; alone,
as an <img>, the picture follows `prefers-color-scheme`. It has a background of its own, so it is
legible on any page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from html import escape
from typing import NamedTuple

from ..read import HUES
from ..wording import current_language, escape_unseen, shorten_text, text_width

PALETTE: dict[str, tuple[str, str, str]] = {
    "bg": ("#ffffff", "#111111", "#ffffff"),
    "ink": ("#1b2129", "#e8edf3", "#000000"),
    "muted": ("#545d68", "#a3adb8", "#3a3a3a"),
    "line": ("#7c8590", "#7f8a96", "#555555"),
    "band": ("#f3f5f8", "#1a2129", "#ffffff"),
    "card": ("#ffffff", "#111111", "#ffffff"),
    "cell": ("#ffffff", "#111111", "#ffffff"),
    "name-bg": ("#dcecff", "#11315a", "#ffffff"),
    "name-line": ("#1f6fd0", "#5aa2f7", "#000000"),
    "name-ink": ("#0a3069", "#cfe4ff", "#000000"),
    "view-bg": ("#e4e9f0", "#2b3541", "#eeeeee"),
    "view-ink": ("#2a323c", "#d8e0e9", "#000000"),
    "count-bg": ("#f1e6ff", "#33205a", "#ffffff"),
    "count-line": ("#7a45cf", "#ab7df0", "#000000"),
    "count-ink": ("#47218f", "#e6d7ff", "#000000"),
    "leaf-bg": ("#dcf5e3", "#113d22", "#ffffff"),
    "leaf-line": ("#1b7a38", "#41b464", "#000000"),
    "leaf-ink": ("#0d4a20", "#c8f2d3", "#000000"),
    "new-bg": ("#fff3bf", "#4a3800", "#ffffff"),
    "new-line": ("#946200", "#e0ab2a", "#000000"),
    "new-ink": ("#5c3d00", "#ffe08a", "#000000"),
    "h0-bg": ("#dcecff", "#11315a", "#ffffff"),
    "h0-line": ("#1f6fd0", "#5aa2f7", "#000000"),
    "h1-bg": ("#ffe8d1", "#4d2b0a", "#ffffff"),
    "h1-line": ("#b35900", "#f0a050", "#000000"),
    "h2-bg": ("#d3f2ec", "#0c3d36", "#ffffff"),
    "h2-line": ("#0b7a6b", "#4fc3b0", "#000000"),
    "h3-bg": ("#fbe0ee", "#4d1836", "#ffffff"),
    "h3-line": ("#a8326f", "#ee86b8", "#000000"),
    "h4-bg": ("#eef0c8", "#3a3d0c", "#ffffff"),
    "h4-line": ("#6b7000", "#c3c94e", "#000000"),
    "h5-bg": ("#e3e1fa", "#2a2660", "#ffffff"),
    "h5-line": ("#4a3fb0", "#a59df5", "#000000"),
    "bad-bg": ("#ffe4e1", "#5a1512", "#ffffff"),
    "bad-line": ("#c4231c", "#ff7b72", "#000000"),
    "bad-ink": ("#8a0f0a", "#ffd6d2", "#000000"),
}
"""Name -> (light, dark, print). Each ink on its ground has a contrast of 4.5 or more, as WCAG asks.

The dark ground is that of JupyterLab: an <img> does not see the colours of its page."""
LARGEST_SIDE = 4_000
"""The most that a picture is wide or high, in px."""
THEMES = {"light": 0, "dark": 1, "print": 2}

MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace"
SANS = (
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','DejaVu Sans','Liberation Sans',"
    "sans-serif"
)

_HUES = tuple(f"h{n}" for n in range(HUES))
_COLOUR_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "page": (("fill", "bg"),),
    "t": (("fill", "ink"),),
    "m": (("fill", "muted"),),
    "band": (("fill", "band"), ("stroke", "line")),
    "box": (("fill", "band"), ("stroke", "line")),
    "card": (("fill", "card"), ("stroke", "line")),
    "cell": (("fill", "cell"), ("stroke", "ink")),
    "arrow": (("stroke", "ink"),),
    "tip": (("fill", "ink"),),
    "halo": (("stroke", "band"),),
    "thin": (("stroke", "line"),),
    "thin-t": (("fill", "line"),),
    "flow": (("stroke", "new-line"),),
    "flow-t": (("fill", "new-line"),),
    "mark": (("fill", "ink"),),
    "mark-l": (("stroke", "bg"),),
    "mark-t": (("fill", "bg"),),
}
"""Class -> (property, palette name) pairs: pictures use these and nothing else for colour."""
_SUFFIXES = {
    "": (("fill", "bg"), ("stroke", "line")),
    "-l": (("stroke", "line"),),
    "-t": (("fill", "ink"),),
}
"""Of the class "count": boxes have the colours "count-bg" and "count-line"; lines are of class
"count-l" and texts of class "count-t"."""
for _stem in ("name", "view", "count", "leaf", "new", "bad", *_HUES):
    for _suffix, _colours in _SUFFIXES.items():
        # A hue has no ink, and a view no line.
        _COLOUR_RULES[_stem + _suffix] = tuple(
            (prop, f"{_stem}-{name}") for prop, name in _colours if f"{_stem}-{name}" in PALETTE
        )
_OTHER_RULES: tuple[tuple[tuple[str, ...], str], ...] = (
    (("arrow", "thin", "count-l", "leaf-l", "bad-l", "mark-l"), "fill:none;stroke-width:1.5"),
    (("thin",), "stroke-width:1"),
    (("box",), "stroke-width:.5"),
    (("flow",), "fill:none;stroke-width:3"),
    (("dash",), "stroke-dasharray:4 3"),
    (("new", "bad", "fresh"), "stroke-width:2"),
    ((), f".tt-pic text{{font-family:{SANS};font-size:12px;white-space:pre}}"),
    (("mono",), f"font-family:{MONO}"),
    (("l",), "font-size:13px"),
    (("halo",), "stroke-width:4;stroke-linejoin:round;paint-order:stroke"),
    (("b",), "font-weight:600"),
    (("c",), "text-anchor:middle"),
    (("e",), "text-anchor:end"),
    # Browsers leave backgrounds out in print, unless told otherwise.
    ((), "@media print{.tt-pic{print-color-adjust:exact}}"),
)
"""(Classes, declarations) for all but colour; rules without a class apply to every picture."""


class Sign(NamedTuple):
    """A small sign: a path that starts to the left of its middle and above it."""

    left: float
    """How far left of its middle the path starts, in px."""
    above: float
    """How far above it."""
    path: str
    """What follows the M of an SVG path, in relative steps."""
    css_class: str
    """The class that colours it."""


SIGNS = {
    "check": Sign(4, 0, "l3 3l6 -7", "leaf-l"),
    "cross": Sign(4, 4, "l8 8m0 -8l-8 8", "bad-l"),
    "warn": Sign(5, -4, "l5 -9l5 9zm5 -6v2.5m0 1.2v1", "bad-l"),
    "was": Sign(5, 0, "l5 -5l5 5l-5 5z", "new"),
    "void": Sign(4, 0, "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0m1.2 2.8l5.6 -5.6", "thin"),
    "scissors": Sign(
        7,
        3.5,
        "a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0m0 7a2.2 2.2 0 1 0 4.4 0a2.2 2.2 0 1 0 -4.4 0"
        "m3.8 -1.2l10 -6m0 7.4l-10 -6",
        "mark-l",
    ),
    "dot": Sign(2, 0, "a2 2 0 1 0 4 0a2 2 0 1 0 -4 0", "tip"),
}


@lru_cache(maxsize=256)
def stylesheet(used: frozenset[str] | None = None) -> str:
    """Return the CSS of a picture, which follows the page and the system.

    With `used`, the classes in the picture, only their rules and colours: that is half the size of
    a small picture.
    """
    coloured = [name for name in _COLOUR_RULES if used is None or name in used]
    needed: set[str] = set()
    for name in coloured:
        needed.update(palette_name for _, palette_name in _COLOUR_RULES[name])
    # Each theme is a column of `PALETTE`. A page that sets `--tt-ink` itself goes before all of them.
    light, dark, paper = (_declare_colours(needed, column) for column in THEMES.values())
    on_dark = f"@media (prefers-color-scheme:dark){{.tt-pic{{{dark}}}}}"
    rules = [f".tt-pic{{{light}}}{on_dark}@media print{{.tt-pic{{{paper}}}}}"]
    for name in coloured:
        pairs = _COLOUR_RULES[name]
        declared = ";".join(f"{prop}:{colour(palette_name)}" for prop, palette_name in pairs)
        # A hue twice, which makes it more specific: the sheet of the next picture on the page may
        # have no rule for it, and would colour this one anew.
        selector = f".{name}.{name}" if name.removesuffix("-l") in _HUES else f".{name}"
        rules.append(f".tt-pic {selector}{{{declared}}}")
    for classes, declarations in _OTHER_RULES:
        selectors = [f".tt-pic .{name}" for name in classes if used is None or name in used]
        if selectors:
            rules.append(f"{','.join(selectors)}{{{declarations}}}")
        elif not classes:
            rules.append(declarations)
    return "".join(rules)


def _declare_colours(names: Collection[str], column: int) -> str:
    declared = ""
    # In the order of the palette: a set has another one in each process.
    for name, colours in PALETTE.items():
        if name in names:
            declared += f"--_{name}:{colours[column]};"
    return declared


def colour(name: str) -> str:
    """Return a colour of `PALETTE` as the page or the system has it."""
    return f"var(--tt-{name},var(--_{name}))"


def fix_theme(svg: str, theme: str) -> str:
    """Return a picture that follows the page's theme in one of `THEMES`.

    Its class is changed, too: inline on one page, its sheet must not colour other pictures.
    """

    def fix_stylesheet(found: re.Match[str]) -> str:
        # Without the variables there is nothing left that a page or the system could change.
        rules = re.sub(r"@media[^{]*\{\.tt-pic\{--[^}]*\}\}|\.tt-pic\{--[^}]*\}", "", found[0])
        rules = re.sub(
            r"var\(--tt-([\w-]+),var\(--_[\w-]+\)\)",
            lambda name: PALETTE[name[1]][THEMES[theme]],
            rules,
        )
        return rules.replace(".tt-pic", f".tt-pic-{theme}")

    # Only the first one: a text in the picture may say the same.
    svg = svg.replace('class="tt-pic"', f'class="tt-pic-{theme}"', 1)
    return re.sub("<style>.*?</style>", fix_stylesheet, svg, count=1, flags=re.DOTALL)


def lang_attribute() -> str:
    """Return the attribute `lang`, by which browsers choose a font; nothing for English."""
    language = current_language()
    if not language:
        return ""
    return f'lang="{language}" '


def format_coordinate(value: float) -> str:
    """Write a coordinate: at most one decimal, no trailing zero, never `-0`."""
    text = f"{value:.1f}".removesuffix(".0")
    # Else one coordinate would be written in two ways.
    if text == "-0":
        return "0"
    return text


def format_point(point: tuple[float, float]) -> str:
    """Write a point as the commands of a path take it."""
    x, y = point
    return f"{format_coordinate(x)} {format_coordinate(y)}"


def hue_of(tensor_id: str) -> str:
    """Return the class of a tensor's hue.

    By its id, so that it is the same in memory, in the graph and in the next step.
    """
    return f"h{int(tensor_id[1:]) % HUES}"


class Canvas:
    """A collection of SVG elements. The texts of a drawing are escaped here and nowhere else.

    `classes` of an element are classes of the `stylesheet`, with a space between two: "t mono b".
    """

    def __init__(self) -> None:
        self.parts: list[str] = []
        # The page is drawn in any case, by `svg`.
        self.classes = {"page"}

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        classes: str,
        radius: float = 0,
        tensor_id: str = "",
        owner_id: str = "",
    ) -> None:
        """Add a box with its upper left corner at x, y; in the hue of a tensor, if it has one's id.

        With `owner_id`, in the hue of that tensor instead: a gradient has that of its leaf.
        """
        owner = ""
        if tensor_id:
            # A player highlights all boxes of a tensor by this attribute.
            owner = f' data-t="{tensor_id}"'
            classes += f" {hue_of(owner_id or tensor_id)}"
        self.classes.add(classes)
        rounded = f' rx="{format_coordinate(radius)}"' if radius else ""
        corner = f'x="{format_coordinate(x)}" y="{format_coordinate(y)}"'
        size = f'width="{format_coordinate(width)}" height="{format_coordinate(height)}"'
        self.parts.append(f'<rect class="{classes}" {corner} {size}{rounded}{owner}/>')

    def path(self, d: str, classes: str) -> None:
        """Add a path in SVG's own notation."""
        self.classes.add(classes)
        self.parts.append(f'<path class="{classes}" d="{d}"/>')

    def line(self, points: Iterable[tuple[float, float]], classes: str) -> None:
        """Add straight lines from point to point."""
        self.path("M" + "L".join(map(format_point, points)), classes)

    def text(
        self,
        x: float,
        y: float,
        text: str,
        classes: str = "t",
        limit: int | None = None,
        whole: str = "",
    ) -> None:
        """Add a line of text; with `limit`, cut to that many columns.

        If it is cut, here or by the caller, `whole` is its tooltip.
        """
        self.classes.add(classes)
        text = escape_unseen(text)
        shown = text if limit is None else shorten_text(text, limit)
        whole = escape_unseen(whole) or text
        title = ""
        if shown != whole:
            title = f"<title>{escape(whole, quote=False)}</title>"
        attributes = f'x="{format_coordinate(x)}" y="{format_coordinate(y)}"'
        if "mono" in classes and not shown.isascii():
            # Squeezed or stretched to the room in its box, whichever font draws it.
            fit = format_coordinate(text_width(shown, classes))
            attributes += f' textLength="{fit}" lengthAdjust="spacingAndGlyphs"'
        # Between tags, quotes need no escape.
        content = escape(shown, quote=False)
        self.parts.append(f'<text class="{classes}" {attributes}>{title}{content}</text>')

    def sign(self, name: str, x: float, y: float) -> None:
        """Add a small sign, one of `SIGNS`."""
        sign = SIGNS[name]
        start = format_point((x - sign.left, y - sign.above))
        self.path(f"M{start}{sign.path}", sign.css_class)

    def svg(self, width: float, height: float, label: str, keeps_size: bool = False) -> str:
        """Return the document; scaled down to `LARGEST_SIDE`, unless it keeps its size."""
        width, height = round(width), round(height)
        scale = 1.0 if keeps_size else min(1.0, LARGEST_SIDE / max(width, height))
        described = f'{lang_attribute()}role="img" aria-label="{escape(escape_unseen(label))}"'
        page = f'<rect class="page" width="{width}" height="{height}" rx="8"/>'
        drawn = page + "".join(self.parts)
        # An element may have several classes: `t mono b`.
        used = frozenset(" ".join(self.classes).split())
        size = f'width="{round(width * scale)}" height="{round(height * scale)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="tt-pic" {described} '
            f'{size} viewBox="0 0 {width} {height}" style="max-width:100%;height:auto">'
            f"<style>{stylesheet(used)}</style>{drawn}</svg>"
        )
