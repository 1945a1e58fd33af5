"""The content of a widget as a tree of parts, each with `.text()` and `.html()`.

    Box(Paragraph("**y** shares memory with x."), Fold("How it was found", Code(program)))

So both say the same. The text is complete: a terminal shows it, a screen reader reads it, a
notebook's check compares it. The HTML needs no script. All content is escaped, and Markdown may
contain the HTML as it is: no attribute has a line break, and there is no blank line inside a tag,
which Markdown would take for the end of the HTML.

Parts are pure: `text()` and `html()` return the same however often they are called.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import east_asian_width

from tinytorch.viz import summarize_text

from .wording import current_language, gettext, join_facts

if TYPE_CHECKING:
    from tinytorch.viz import Picture

_NUMBERS = re.compile(r"\[[][0-9., +e-]* [][0-9., +e-]*\]")
"""A list of more than one number."""
_LONGEST_UNBROKEN = 24
"""So many characters of such a list, and fewer, are on one line."""
_MARKS = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")
# A user's star or backtick is a private-use character until the marks of a sentence are replaced.
_PROTECT = {ord("*"): "\uf02a", ord("`"): "\uf060"}
_UNPROTECT = {ord(stand_in): chr(letter) for letter, stand_in in _PROTECT.items()}
_VOID_ELEMENTS = ("br", "img", "input")
_LONG_WORD = 24
"""From so many letters on, a word of an output may be broken before its dots."""
_FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)


# -- text and HTML -----------------------------------------------------------------


def wrap_in_language(html: str) -> str:
    """Return HTML with its language, by which a browser chooses the font; as it is for English."""
    return html_element("div", html, lang=current_language()) if current_language() else html


def escape_lines(text: str) -> str:
    """Return text as HTML for `<pre>`, in which no line is blank."""
    # Markdown ends a block of HTML at a blank line, and would take what follows for its own.
    return re.sub(r"\n(?=[ \t]*(\n|$))", "&#10;", escape(text, quote=False))


def escape_output(text: str) -> str:
    """Return text as HTML for `<pre>`; a long word may be broken before the dots in it.

    PyTorch's warnings name calls such as `sourceTensor.detach().clone().requires_grad_(True)`,
    wider than the column that shows them: they would be broken at any letter.
    """

    def mark_dots(word: re.Match[str]) -> str:
        # Not before a digit: 0.5 is one word.
        return re.sub(r"(?<=[\w)\]])(?=\.[A-Za-z_])", "<wbr>", word[0])

    return re.sub(rf"\S{{{_LONG_WORD},}}", mark_dots, escape_lines(text))


def html_element(tag: str, inside: str = "", /, **attributes: Any) -> str:
    """Return an element of HTML.

    `class_` and `data_key` become `class` and `data-key`; None and False are left out.
    """
    markup = ""
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        markup += f" {key.rstrip('_').replace('_', '-')}"
        if value is not True:
            # A line break within an attribute would end the block in Markdown, too.
            markup += '="{}"'.format(escape(str(value)).replace("\n", "&#10;"))
    # With an end tag, a browser would read `</br>` as a second break.
    return f"<{tag}{markup}>" if tag in _VOID_ELEMENTS else f"<{tag}{markup}>{inside}</{tag}>"


def protect_marks(text: str) -> str:
    """Return a user's text for a sentence: no star or backtick in it is taken for a mark."""
    return text.translate(_PROTECT)


def inline_html(text: str) -> str:
    """Return a sentence as HTML on one line: `code` and **bold** as elements, the rest escaped."""
    # The HTML may be put into Markdown, where an empty line would end it.
    text = re.sub(r"\s*\n\s*", " ", text)
    pieces: list[str] = []
    end = 0
    for mark in _MARKS.finditer(text):
        pieces.append(escape(text[end : mark.start()]))
        code, bold = mark.groups()
        if code is not None:
            # `[2., 4.]` is one thing: broken behind the comma, it was read as two.
            is_one = len(code) <= _LONGEST_UNBROKEN and _NUMBERS.fullmatch(code)
            pieces.append(html_element("code", escape(code), class_="cl-one" if is_one else None))
        else:
            pieces.append(f"<strong>{escape(bold)}</strong>")
        end = mark.end()
    # Last: what was the user's own star becomes one again only when no mark is looked for any more.
    return "".join([*pieces, escape(text[end:])]).translate(_UNPROTECT)


def plain_text(text: str) -> str:
    """Return a sentence as text, without the stars of **bold**. Backticks stay: they mark code."""
    # Code keeps its backticks: without them `x` would be a letter of the sentence.
    return _MARKS.sub(lambda mark: mark[2] or mark[0], text.strip()).translate(_UNPROTECT)


def indent_text(text: str, indent: str = "  ") -> str:
    """Return text with each line indented, except for empty ones."""
    return "\n".join(indent + line if line else "" for line in text.split("\n"))


# -- parts -------------------------------------------------------------------------


class Part:
    """Some content: in words by `text()`, as HTML by `html()`. This one is given both."""

    def __init__(self, text: str, html: str) -> None:
        self._text, self._html = text, html

    def text(self) -> str:
        """Return the content in words; empty if it is for the page alone."""
        return self._text

    def html(self) -> str:
        """Return the content as HTML that needs no script."""
        return self._html

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return summarize_text(self.text())


class Presentation:
    """Mixin for an object that shows itself as one tree of parts."""

    def tree(self) -> Part:
        """Return all that it shows."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """All that it shows, in words."""
        return self.tree().text()

    @property
    def html(self) -> str:
        """The same as HTML that needs no script."""
        return wrap_in_language(self.tree().html())

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> Any:
        return {"text/plain": self.text, "text/html": self.html}


class Paragraph(Part):
    """Sentences with `code` and **bold**, after a `mark`. `class_` is that of the element."""

    def __init__(
        self,
        text: str,
        *,
        mark: str = "",
        class_: str | None = None,
        tag: str = "p",
        **attributes: Any,
    ) -> None:
        before = f"<strong>{escape(mark)}</strong> " if mark else ""
        html = html_element(tag, before + inline_html(text), class_=class_, **attributes)
        super().__init__(plain_text(f"{mark} {text}" if mark else text), html)


class Code(Part):
    """Lines of code, or of anything with line breaks, `numbered` or not."""

    def __init__(
        self, source: str, *, indent: str = "  ", numbered: bool = False, **attributes: Any
    ) -> None:
        source = source.rstrip("\n")
        if numbered:
            source = "\n".join(_number_lines(source.split("\n")))
        inside = escape_lines(source)
        if numbered:  # or the pages of nbconvert show their own font
            inside = html_element("code", inside)
        super().__init__(indent_text(source, indent), html_element("pre", inside, **attributes))


def _number_lines(lines: Sequence[str]) -> list[str]:
    width = len(str(len(lines)))
    return [f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(lines, 1)]


class Box(Part):
    """Parts one below the other; `spaced`: with an empty line between them in the text."""

    def __init__(
        self,
        *parts: Part | None,
        spaced: bool = False,
        class_: str | None = None,
        tag: str = "div",
        **attributes: Any,
    ) -> None:
        # None may be given, so that what is there only sometimes is one argument in a list of
        # parts.
        self.parts = tuple(part for part in parts if part is not None)
        self.spaced, self.tag = spaced, tag
        self.attributes = {"class_": class_, **attributes}

    def text(self) -> str:
        """Return the texts of the parts, without empty ones."""
        texts = [part.text() for part in self.parts]
        return ("\n\n" if self.spaced else "\n").join(filter(None, texts))

    def inner_html(self) -> str:
        """Return the HTML of the parts."""
        return "".join(part.html() for part in self.parts)

    def html(self) -> str:
        """Return a `<div>`, or another `tag`."""
        return html_element(self.tag, self.inner_html(), **self.attributes)


class Items(Box):
    """A list; each item is a part or a sentence."""

    def __init__(
        self, items: Iterable[Part | str], *, bullet: str = "  - ", **attributes: Any
    ) -> None:
        parts = (
            Paragraph(item, tag="li") if isinstance(item, str) else Box(item, tag="li")
            for item in items
        )
        super().__init__(*parts, tag="ul", **attributes)
        self.bullet = bullet

    def text(self) -> str:
        """Return a line for each item, with a bullet before it."""
        indent = " " * len(self.bullet)
        texts = filter(None, (part.text() for part in self.parts))
        # The bullet takes the place of the first line's indent.
        return "\n".join(self.bullet + indent_text(text, indent).lstrip() for text in texts)


class Titled(Box):
    """Parts under a title."""

    def __init__(self, title: str, *parts: Part | None, **attributes: Any) -> None:
        super().__init__(*parts, **attributes)
        self.title = title

    def text(self) -> str:
        """Return the title, and below it the parts, indented."""
        inside = super().text()
        # A title of whole sentences has its stop where it is above the parts.
        title = plain_text(self.title)
        title = title.rstrip(".。") if inside else title
        return f"{gettext('{what}:', what=title)}\n{indent_text(inside)}" if inside else title

    def inner_html(self) -> str:
        """Return the HTML of the title and the parts."""
        title = html_element("p", inline_html(self.title), class_="cl-title")
        return title + super().inner_html()


class Fold(Titled):
    """Parts that can be folded away under a title; the text has them all."""

    def html(self) -> str:
        """Return a `<details>`."""
        summary = html_element("summary", inline_html(self.title))
        # Not that of `Titled`, which would say the title again.
        return html_element("details", summary + Box.inner_html(self), **self.attributes)


class Alarm(Titled):
    """What must not be missed. `severity`: "error", or "wrong" for a wrong gradient."""

    def __init__(
        self, title: str, *parts: Part | None, severity: str = "error", **attributes: Any
    ) -> None:
        super().__init__(title, *parts, class_=f"cl-alarm cl-{severity}", **attributes)
        self.mark = "✖" if severity == "error" else "⚠"

    def inner_html(self) -> str:
        """Return the title, marked by more than its colour, and the parts."""
        return (
            f"<p><strong>{self.mark} {inline_html(self.title)}</strong></p>{Box.inner_html(self)}"
        )


class Cell:
    """A field of a table: its text; for the page, if that differs, `short` or a part.

    head: it is the head of its row.
    """

    def __init__(
        self,
        text: str,
        *,
        short: str | None = None,
        part: Part | None = None,
        head: bool = False,
        **attributes: Any,
    ) -> None:
        self.text, self.short, self.part, self.head = text, short, part, head
        self.attributes = attributes

    def html(self, scope: str = "") -> str:
        """Return a `<td>`; a `<th>` for the head of a row, or with a `scope`, "col"."""
        if self.part is not None:
            inside = self.part.html()
        else:
            inside = inline_html(self.text if self.short is None else self.short)
        if scope or self.head:
            return html_element("th", inside, scope=scope or "row", **self.attributes)
        return html_element("td", inside, **self.attributes)


class Table(Part):
    """Rows of fields below a head.

    The first field of a row is its head, unless it is a Cell that is none.
    layout: of the text. "columns": a line for each row, the fields below each other. "rows": a
    block for each row, in which each field follows the name of its column, in one line. breaks:
    columns from which on a new line begins there.
    """

    def __init__(
        self,
        head: Sequence[Cell | str],
        rows: Iterable[Sequence[Cell | str]],
        *,
        caption: str = "",
        layout: str = "columns",
        breaks: Sequence[int] = (),
        **attributes: Any,
    ) -> None:
        self.caption, self.layout, self.breaks = caption, layout, tuple(breaks)
        self.attributes = attributes
        self.head = [_make_cell(field) for field in head]
        self.rows = list(map(_make_row, rows))

    def text(self) -> str:
        """Return the table in words, as `layout` says."""
        lines = [plain_text(self.caption)] if self.caption else []
        head = _list_plain_texts(self.head)
        rows = list(map(_list_plain_texts, self.rows))
        if self.layout == "rows":
            # Each block begins with an empty line: none is above the first, if there is no caption.
            return "\n".join(lines + self._lines_of_blocks(head, rows)).lstrip("\n")
        # A head of empty names would be an empty line.
        return "\n".join(lines + _lines_of_columns([head, *rows] if any(head) else rows))

    def _lines_of_blocks(self, head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
        lines: list[str] = []
        for row in rows:
            pairs = [
                gettext("{what}: {facts}", what=name, facts=field)
                for name, field in zip(head, row, strict=True)
            ]
            lines += ["", row[0]]
            # From 1, as the first field is the heading of the block.
            for start, end in pairwise((1, *self.breaks, len(pairs))):
                lines.append(f"  {join_facts(pairs[start:end])}")
        return lines

    def html(self) -> str:
        """Return a `<table>`."""
        caption = html_element("caption", inline_html(self.caption)) if self.caption else ""
        # An empty head is a plain field: a screen reader announces no column without a name.
        head = "".join(cell.html("col" if cell.text else "") for cell in self.head)
        body = ""
        for row in self.rows:
            body += html_element("tr", "".join(cell.html() for cell in row))
        top = html_element("thead", html_element("tr", head)) if head else ""
        return html_element("table", caption + top + html_element("tbody", body), **self.attributes)


def _make_row(fields: Sequence[Cell | str]) -> list[Cell]:
    return [_make_cell(field, head=column == 0) for column, field in enumerate(fields)]


def _list_plain_texts(cells: Iterable[Cell]) -> list[str]:
    return [plain_text(cell.text) for cell in cells]


def _make_cell(field: Cell | str, *, head: bool = False) -> Cell:
    return field if isinstance(field, Cell) else Cell(field, head=head)


def _lines_of_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(map(_count_columns, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        fields = [
            field + " " * (width - _count_columns(field))
            for field, width in zip(row, widths, strict=True)
        ]
        lines.append(f"  {'  '.join(fields)}".rstrip())
    return lines


def _count_columns(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese and Korean characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


class Figure(Part):
    """A picture with its words.

    live: drawn into a page that has the colours; otherwise an image, for any page.
    has_title_inside: the title is drawn in the picture, and not seen above it a second time.
    """

    def __init__(
        self,
        picture: Picture,
        title: str,
        *,
        live: bool = False,
        has_title_inside: bool = False,
        **attributes: Any,
    ) -> None:
        self.picture, self.title, self.live = picture, title, live
        self.has_title_inside, self.attributes = has_title_inside, attributes

    def text(self) -> str:
        """Return all that it shows, in words."""
        return self.picture.text

    def html(self) -> str:
        """Return a `<figure>` with the picture, and its words folded below it."""
        words = Fold(
            gettext("{title} in words", title=self.title),
            Code(self.picture.text),
            # The script keeps what a reader has opened when the page is renewed, by this name.
            data_keep=self.title,
        )
        head = ""
        # The picture has its title as a name, for those who hear it.
        if not self.has_title_inside:
            head = html_element("figcaption", inline_html(self.title), class_="cl-title")
        return html_element("figure", head + self._picture_html() + words.html(), **self.attributes)

    def _picture_html(self) -> str:
        if not self.live:
            source = base64.b64encode(self.picture.svg.encode()).decode()
            alt = gettext("{title}, told in words below", title=self.title)
            image = html_element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}")
            return html_element("div", image, class_="cl-holder")
        # It may scroll, and can be reached by key for that.
        return html_element(
            "div",
            self.picture.svg,
            class_="cl-holder",
            tabindex=0,
            role="group",
            aria_label=self.title,
            data_keep=f"picture {self.title}",
        )


class InText(Box):
    """Parts for the text alone, since the page shows the same in another way."""

    def html(self) -> str:
        """Return nothing."""
        return ""


class InPage(Part):
    """Content for the page alone: a style, a script, a button. A string is HTML, not escaped."""

    def __init__(self, content: str | Part) -> None:
        self.content = content

    def text(self) -> str:
        """Return nothing."""
        return ""

    def html(self) -> str:
        """Return the content as HTML."""
        return self.content.html() if isinstance(self.content, Part) else self.content


class ListingLine(NamedTuple):
    """A line of a listing: the code, a note behind it, its class in the page."""

    code: str
    note: str = ""
    class_: str | None = None


class Listing(Part):
    """Lines of code with their numbers, from 1: an `<ol>` that may be scrolled by key."""

    def __init__(self, lines: Iterable[ListingLine], **attributes: Any) -> None:
        texts: list[str] = []
        rows = ""
        for number, line in enumerate(lines, 1):
            texts.append(f"{line.code}  {line.note}" if line.note else line.code)
            row = html_element("code", escape_lines(line.code))
            row += html_element("small", escape(line.note)) if line.note else ""
            rows += html_element("li", row, data_line=number, class_=line.class_)
        html = html_element("ol", rows, class_="cl-listing", tabindex=0, role="list", **attributes)
        super().__init__(indent_text("\n".join(_number_lines(texts))), html)


def split_paragraphs(text: str) -> Box:
    """Return a text of several paragraphs as parts; code is between lines of three backticks."""
    parts: list[Part] = []
    for number, piece in enumerate(_FENCE.split(text.strip())):
        # `split` puts what a group matched between the rest.
        if number % 2:
            parts.append(Code(piece))
            continue
        paragraphs = re.split(r"\n\s*\n", piece.strip())
        parts += [Paragraph(paragraph) for paragraph in paragraphs if paragraph.strip()]
    return Box(*parts, spaced=True)
