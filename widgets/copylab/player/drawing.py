"""The stage of a step as one drawing: code and words at the left, memory and graph at the right.

All steps of a run have one size, so that nothing jumps in an animation of them.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import takewhile
from typing import Any, NamedTuple

from tinytorch.viz import Canvas, Document, convert, fix_theme, labels

from ..wording import gettext
from .frames import Frame
from .static_parts import PICTURE_TITLES, sort_by_role

_WIDTH = 320
"""Of code and words, in px."""
_PADDING = 14
_LINE = 20
"""The height of a line, in px."""
_MOST_LINES = 18
"""So many lines of the code are drawn: those around the one that ran."""
_GUTTER = 34
"""Where the code begins, right of the numbers of its lines, in px."""
_INDENT = 28
"""Of what a line of code that is too long goes on with, in px."""
_MOST_PIECES, _MOST_PIECES_HERE = 3, 7
"""So many lines a line of code takes at most, and the one that ran."""
_BREAKS = " ,([{="
"""A line of code that is too long is broken behind one of these, if there is one in its end."""
_MILLISECONDS = 1_800
"""So long a step is shown in an animation."""
_SHARE_OF_ALARM = 2
"""A step with an alarm is shown so many times as long."""
_COLORS = 128
_ATTRIBUTES = re.compile(r'(?<=<svg )(.*?) style="[^"]*"')
_SIZE = re.compile(r' width="(\d+)" height="(\d+)"')


class _TextLine(NamedTuple):
    """A line of text on the stage."""

    text: str
    """What it says."""
    classes: str
    """The classes of a text on a `Canvas`."""
    ground: str = ""
    """The class of the box behind it; empty for none."""
    x: float = _PADDING
    """Where it begins, in px."""
    number: str = ""
    """The number of the line of code."""


class StageDrawing(Document):
    """One step of a run as a drawing, which is saved as a file.

    `stage` has the sizes that all steps of the run have in common.
    """

    def __init__(self, frame: Frame, stage: StageSizes) -> None:
        self._frame, self._stage = frame, stage

    @cached_property
    def svg(self) -> str:
        """The drawing, which follows the theme of a page."""
        return self._draw_frame(None)

    @property
    def text(self) -> str:
        """The title of the step, and what it changed."""
        return "\n".join([self._frame.title, *self._frame.changes])

    def svg_in_theme(self, theme: str | None) -> str:
        """Return the SVG in a fixed theme, or as it is. Raises LayoutError without Graphviz."""
        # Before it is drawn: an unknown theme is an error of its own.
        return self.svg if theme is None else self._draw_frame(theme)

    def _draw_frame(self, theme: str | None) -> str:
        canvas, stage, frame = Canvas(), self._stage, self._frame
        code, words = list(stage.list_code(frame)), list(list_words(frame))
        _draw_lines(canvas, code, _PADDING)
        top = _PADDING + stage.code_lines * _LINE + _PADDING
        canvas.line([(0, top - _PADDING / 2), (_WIDTH, top - _PADDING / 2)], "thin")
        canvas.line([(_WIDTH, 0), (_WIDTH, stage.height)], "thin")
        _draw_lines(canvas, words, top)
        y: float = _PADDING
        for kind, (_, height) in stage.pictures.items():
            title = _height_of_title(kind)
            if title:
                canvas.text(_WIDTH + _PADDING, y + 12, gettext(PICTURE_TITLES[kind]), "m b")
            if kind in frame.pictures:
                svg = frame.pictures[kind].svg_in_theme(theme)
                # An SVG within the SVG: its styles hold for its own elements, by the class of a
                # picture.
                canvas.parts.append(_place_picture(svg, _WIDTH + _PADDING, y + title))
            y += title + height + _PADDING
        svg = canvas.svg(stage.width, stage.height, frame.title, keeps_size=True)
        return svg if theme is None else fix_theme(svg, theme)


def _height_of_title(kind: str) -> int:
    """Return the height of the title above a picture: that of a graph is in it."""
    return 0 if kind == "graph" else _LINE


class StageSizes:
    """What all drawings of a run have in common: its code, and the largest size of each part."""

    def __init__(self, listings: Sequence[Sequence[str]], frames: Sequence[Frame]) -> None:
        self._listings = listings
        self.pictures: dict[str, tuple[int, int]] = {}
        """Kind -> width and height of the largest picture, in px."""
        for frame in frames:
            for kind, picture in frame.pictures.items():
                if size := _SIZE.search(picture.svg):
                    width, height = self.pictures.get(kind, (0, 0))
                    largest = (max(width, int(size[1])), max(height, int(size[2])))
                    self.pictures[kind] = largest
        self.code_lines = max((len(list(self.list_code(frame))) for frame in frames), default=1)
        words = max((len(list(list_words(frame))) for frame in frames), default=1)
        pictures = sum(
            height + _height_of_title(kind) + _PADDING
            for kind, (_, height) in self.pictures.items()
        )
        texts = (self.code_lines + words) * _LINE + 2 * _PADDING
        self.height = _PADDING + max(texts, pictures)
        largest_width = max((width for width, _ in self.pictures.values()), default=0)
        self.width = _WIDTH + largest_width + 2 * _PADDING

    def list_code(self, frame: Frame) -> Iterator[_TextLine]:
        """Yield the lines of code around the one that ran, which is marked."""
        site = frame.step.site
        lines = self._listings[frame.code]
        above = site.text.above
        here = range(site.line - above, site.end_line - above + 1)
        # The line that ran is in the middle, but at the beginning and the end of the code.
        start = max(0, min(here.start - 1 - _MOST_LINES // 2, len(lines) - _MOST_LINES))
        is_wrong = frame.has_wrong_gradient or frame.error is not None
        for number, line in enumerate(lines[start : start + _MOST_LINES], start + 1):
            kind = "bad" if is_wrong else "new"
            ink, ground = (f"{kind}-t mono b", kind) if number in here else ("t mono", "")
            most = _MOST_PIECES_HERE if number in here else _MOST_PIECES
            for index, piece in enumerate(wrap_code(line, most)):
                label = "" if index else str(number + above)
                x = _GUTTER + (_INDENT if index else 0)
                yield _TextLine(piece, ink, ground, x, label)


def wrap_code(line: str, most: int) -> list[str]:
    """Return a line of code in at most `most` pieces; one that has more ends in an ellipsis.

    Not as words are: a long list or name without a space would be cut off.
    """
    width = _WIDTH - _GUTTER - _INDENT - _PADDING
    pieces: list[str] = []
    rest = line
    while labels.text_width(rest, "mono b") > width and len(pieces) < most - 1:
        # By measuring: a wide letter, as in a comment in Chinese, takes two columns.
        stop = len(rest)
        while labels.text_width(rest[:stop], "mono b") > width:
            stop -= 1
        begin = len(rest) - len(rest.lstrip())
        ends = [place + 1 for place in range(begin, stop) if rest[place] in _BREAKS]
        # Not far from the end, or the pieces would be too many.
        if ends and ends[-1] > begin + (stop - begin) / 2:
            stop = ends[-1]
        # The indent of a piece is drawn, and not taken from the code.
        pieces.append(rest[:stop].rstrip())
        rest = rest[stop:].lstrip()
    return [*pieces, labels.shorten_text(rest, labels.columns_that_fit(width, "mono b"))]


def list_words(frame: Frame) -> Iterator[_TextLine]:
    """Yield what is said of a step, as lines that fit beside the pictures."""
    for alarm in frame.alarms:
        yield from _wrap_sentence(alarm.title, "bad-t b", "bad")
        # The harm, or who did it: all of it is in the page.
        yield from _wrap_sentence(alarm.sentences[0], "bad-t", "bad")
    if frame.error is not None:
        yield from _wrap_sentence(frame.error.partition("\n")[0], "bad-t b", "bad")
    for sentence in sort_by_role(frame.sentences):
        if sentence.role == "numbers" and sentence.pair is not None:
            name, before, after, marked_name = sentence.pair
            kind = "t" if marked_name else "t mono"
            yield from _wrap_sentence(f"{name}  {before} → {after}", kind)
        elif sentence.role != "rest":
            is_headline = sentence.role == "headline"
            yield from _wrap_sentence(sentence.text, "t b" if is_headline else "m")


def _wrap_sentence(text: str, classes: str, ground: str = "") -> Iterator[_TextLine]:
    columns = labels.columns_that_fit(_WIDTH - 2 * _PADDING, classes)
    for line in labels.wrap_text(text, columns, most=4):
        yield _TextLine(line, classes, ground)


def _draw_lines(canvas: Canvas, lines: Sequence[_TextLine], top: float) -> None:
    """Draw lines from a height on; neighbours with the same ground are in one box."""
    for index, line in enumerate(lines):
        before = lines[index - 1].ground if index else ""
        if line.ground and line.ground != before:
            group = takewhile(lambda other: other.ground == line.ground, lines[index:])  # noqa: B023
            height = _LINE * len(list(group))
            canvas.rect(4, top + index * _LINE, _WIDTH - 8, height, line.ground, 4)
    for index, line in enumerate(lines):
        y = top + index * _LINE + 14
        if line.number:
            canvas.text(_GUTTER - 10, y, line.number, "m mono e")
        canvas.text(line.x, y, line.text, line.classes)


def _place_picture(svg: str, x: float, y: float) -> str:
    """Return a picture as a part of a larger drawing.

    Its style is for pages: `height: auto` is all the height there is in an SVG.
    """
    return _ATTRIBUTES.sub(rf'x="{x:g}" y="{y:g}" \1', svg, count=1)


def animate(drawings: Sequence[StageDrawing], has_alarm: Sequence[bool], theme: str) -> bytes:
    """Return the bytes of a GIF that shows the drawings one after the other, for ever.

    Raises ImportError, which says what to install, without Pillow or typst.
    """
    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            gettext("saving as GIF needs the pillow package: `pip install 'copylab[export]'`")
        ) from error
    images: list[Any] = []
    for drawing in drawings:
        image = Image.open(io.BytesIO(convert(drawing.svg_in_theme(theme), "png"))).convert("RGBA")
        # Its corners are round, and a GIF would have them black.
        paper = Image.new("RGBA", image.size, "white")
        # A PNG is twice as large, for sharp screens; a GIF would take four times the bytes.
        whole = Image.alpha_composite(paper, image).convert("RGB").reduce(2)
        # A palette of its own for each: what is red in one step need not be in the colours of
        # another.
        images.append(whole.quantize(_COLORS))
    times = [_MILLISECONDS * (_SHARE_OF_ALARM if alarm else 1) for alarm in has_alarm]
    content = io.BytesIO()
    first, *others = images
    first.save(
        content, "GIF", save_all=True, append_images=others, duration=times, loop=0, optimize=True
    )
    return content.getvalue()
