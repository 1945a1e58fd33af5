"""What a widget says, said once: a tree of parts, each with `.text()` and `.html()`.

    Box(Paragraph("**y** shares memory with x."), Fold("How it was found", Code(program)))

The text is complete: it is what a terminal shows, what a screen reader can be given, what a notebook's check compares.
The HTML needs no script. All that it is given is escaped, and it may stand in Markdown as it is: no attribute holds a
line break, and no blank line stands inside a tag, where Markdown would take it for the end of the HTML.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch.viz import current_language, gettext, summarize_text

if TYPE_CHECKING:
    from tinytorch.viz import Picture as Drawn

_MARKS = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")
_PROTECT = {ord("*"): "\uf02a", ord("`"): "\uf060"}
_UNPROTECT = {ord(meant): chr(mark) for mark, meant in _PROTECT.items()}
_VOID_ELEMENTS = ("br", "img", "input")
_FENCE = re.compile(r"```\w*\n(.*?)\n?```", re.DOTALL)


def wrap_in_language(html: str) -> str:
    """HTML with its language, by which a browser finds the font: not needed for English."""
    return html_element("div", html, lang=current_language()) if current_language() else html


def escape_lines(text: str) -> str:
    """Text as HTML in which no line is blank, for `<pre>`."""
    return re.sub(r"\n(?=[ \t]*(\n|$))", "&#10;", escape(text, quote=False))


def html_element(tag: str, inside: str = "", /, **attributes: Any) -> str:
    """An element of HTML. `class_` and `data_key` are written `class` and `data-key`; None and False are left out."""
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}"
        + ("" if value is True else '="{}"'.format(escape(str(value)).replace("\n", "&#10;")))
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    return f"<{tag}{written}>" if tag in _VOID_ELEMENTS else f"<{tag}{written}>{inside}</{tag}>"


def protect_marks(text: str) -> str:
    """Text of somebody else's, for a sentence: no star or backtick in it is taken for a mark."""
    return text.translate(_PROTECT)


def inline_html(text: str) -> str:
    """Text as HTML on one line: `code` and **bold**, the rest escaped."""
    text, out, at = re.sub(r"\s*\n\s*", " ", text), [], 0
    for mark in _MARKS.finditer(text):
        out.append(escape(text[at : mark.start()]))
        code, bold = mark.groups()
        out.append(
            f"<code>{escape(code)}</code>"
            if code is not None
            else f"<strong>{escape(bold)}</strong>"
        )
        at = mark.end()
    return "".join([*out, escape(text[at:])]).translate(_UNPROTECT)


def plain_text(text: str) -> str:
    """The same for reading as text: backticks stay, for they say what is code, and so do the stars in it."""
    return _MARKS.sub(lambda mark: mark[2] or mark[0], text.strip()).translate(_UNPROTECT)


def indent_text(text: str, by: str = "  ") -> str:
    """Text moved to the right; what is empty stays empty."""
    return "\n".join(by + line if line else "" for line in text.split("\n"))


class Part:
    """Something that is said: in words by `text()`, as HTML by `html()`."""

    def __init__(self, said: str, markup: str) -> None:
        self._said, self._markup = said, markup

    def text(self) -> str:
        """What this says, in words; empty for what says nothing."""
        return self._said

    def html(self) -> str:
        """The same as HTML that needs no script."""
        return self._markup

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text(), "text/html": self.html()}

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return summarize_text(self.text())


class Presentation:
    """Mixed into what has more to it than what it says: all of that is one tree."""

    def tree(self) -> Part:
        """All that it says."""
        raise NotImplementedError

    @property
    def text(self) -> str:
        """All that it says, in words."""
        return self.tree().text()

    @property
    def html(self) -> str:
        """The same as HTML that needs no script."""
        return wrap_in_language(self.tree().html())

    def _repr_mimebundle_(self, **_: object) -> Any:
        return {"text/plain": self.text, "text/html": self.html}


class Paragraph(Part):
    """A sentence or several, with `code` and **bold** in them. `mark` stands before it, and `kind` is its class."""

    def __init__(
        self,
        said: str,
        *,
        mark: str = "",
        kind: str | None = None,
        tag: str = "p",
        **attributes: Any,
    ) -> None:
        before = f"<strong>{escape(mark)}</strong> " if mark else ""
        html = html_element(tag, before + inline_html(said), class_=kind, **attributes)
        super().__init__(plain_text(f"{mark} {said}" if mark else said), html)


class Code(Part):
    """Lines of code, or whatever keeps its line breaks. `numbered`: with the number of each line before it."""

    def __init__(
        self, source: str, *, by: str = "  ", numbered: bool = False, **attributes: Any
    ) -> None:
        source = source.rstrip("\n")
        if numbered:
            source = "\n".join(_number_lines(source.split("\n")))
        inside = escape_lines(source)
        if numbered:  # or the pages of nbconvert show their own font
            inside = html_element("code", inside)
        super().__init__(indent_text(source, by), html_element("pre", inside, **attributes))


def _number_lines(lines: Sequence[str]) -> list[str]:
    wide = len(str(len(lines)))
    return [f"{n:>{wide}}  {line}".rstrip() for n, line in enumerate(lines, 1)]


class Box(Part):
    """Parts one below the other; `apart`: with an empty line between them in the text."""

    def __init__(
        self,
        *parts: Part | None,
        apart: bool = False,
        kind: str | None = None,
        tag: str = "div",
        **attributes: Any,
    ) -> None:
        self.parts = tuple(part for part in parts if part is not None)
        self.apart, self.tag = apart, tag
        self.attributes = {"class_": kind, **attributes}

    def text(self) -> str:
        """The texts of the parts that say something."""
        return ("\n\n" if self.apart else "\n").join(
            filter(None, (part.text() for part in self.parts))
        )

    def inside(self) -> str:
        """The HTML of the parts."""
        return "".join(part.html() for part in self.parts)

    def html(self) -> str:
        """A `<div>`, or another `tag`."""
        return html_element(self.tag, self.inside(), **self.attributes)


class Items(Box):
    """A list; each item is a part or a sentence."""

    def __init__(
        self, items: Iterable[Part | str], *, bullet: str = "  - ", **attributes: Any
    ) -> None:
        parts = (
            Paragraph(one, tag="li") if isinstance(one, str) else Box(one, tag="li")
            for one in items
        )
        super().__init__(*parts, tag="ul", **attributes)
        self.bullet = bullet

    def text(self) -> str:
        """A line for each item, with a bullet before it."""
        by = " " * len(self.bullet)
        return "\n".join(
            self.bullet + indent_text(said, by).lstrip()
            for part in self.parts
            if (said := part.text())
        )


class Titled(Box):
    """Parts under a title."""

    def __init__(self, title: str, *parts: Part | None, **attributes: Any) -> None:
        super().__init__(*parts, **attributes)
        self.title = title

    def text(self) -> str:
        """The title, and below it the parts, moved to the right."""
        inside = super().text()
        return (
            f"{plain_text(self.title)}:\n{indent_text(inside)}"
            if inside
            else plain_text(self.title)
        )

    def inside(self) -> str:
        """The title and the parts."""
        return html_element("p", inline_html(self.title), class_="cl-title") + super().inside()


class Fold(Titled):
    """Parts that can be folded away under a title; the text has them all."""

    def html(self) -> str:
        """A `<details>`."""
        return html_element(
            "details",
            html_element("summary", inline_html(self.title)) + Box.inside(self),
            **self.attributes,
        )


class Alarm(Titled):
    """What must not be missed: an error, a wrong gradient. `kind`: "error" or "wrong"."""

    def __init__(
        self, title: str, *parts: Part | None, kind: str = "error", **attributes: Any
    ) -> None:
        super().__init__(title, *parts, kind=f"cl-alarm cl-{kind}", **attributes)
        self.mark = "✖" if kind == "error" else "⚠"

    def inside(self) -> str:
        """The title, marked by more than its colour, and the parts."""
        return f"<p><strong>{self.mark} {inline_html(self.title)}</strong></p>{Box.inside(self)}"


class Cell:
    """A field of a table: what it says in the text; in the page, if that differs, `short` or a part."""

    def __init__(
        self,
        said: str,
        *,
        short: str | None = None,
        part: Part | None = None,
        head: bool = False,
        **attributes: Any,
    ) -> None:
        self.said, self.short, self.part, self.head, self.attributes = (
            said,
            short,
            part,
            head,
            attributes,
        )

    def html(self, scope: str = "") -> str:
        """A `<td>`, or a `<th>` for a head of its row, or of what `scope` says."""
        inside = (
            self.part.html()
            if self.part is not None
            else inline_html(self.said if self.short is None else self.short)
        )
        if scope or self.head:
            return html_element("th", inside, scope=scope or "row", **self.attributes)
        return html_element("td", inside, **self.attributes)


class Table(Part):
    """Rows of fields below a head. The first field of a row is its head unless a Cell says otherwise.

    told: "columns", a line for each row, the fields below each other; or "rows", a block for each row that says each
    field after the name of its column, in one line or, with `breaks`, from each of these columns on in another.
    """

    def __init__(
        self,
        head: Sequence[Cell | str],
        rows: Iterable[Sequence[Cell | str]],
        *,
        caption: str = "",
        told: str = "columns",
        breaks: Sequence[int] = (),
        **attributes: Any,
    ) -> None:
        self.caption, self.told, self.breaks, self.attributes = (
            caption,
            told,
            tuple(breaks),
            attributes,
        )
        self.head = [one if isinstance(one, Cell) else Cell(one) for one in head]
        self.rows = [
            [one if isinstance(one, Cell) else Cell(one, head=not at) for at, one in enumerate(row)]
            for row in rows
        ]

    def text(self) -> str:
        """The table in words, as `told` says."""
        lines = [plain_text(self.caption)] if self.caption else []
        head = [plain_text(name.said) for name in self.head]
        said = [[plain_text(cell.said) for cell in row] for row in self.rows]
        if self.told == "rows":
            for row in said:
                pairs = [f"{name}: {one}" for name, one in zip(head, row, strict=True)]
                parts = pairwise((1, *self.breaks, len(pairs)))
                lines += ["", row[0], *(f"  {'; '.join(pairs[start:end])}" for start, end in parts)]
            return "\n".join(lines).lstrip("\n")
        said = [head, *said] if any(head) else said
        wide = [max(map(len, column)) for column in zip(*said, strict=True)]
        rows = [
            "  ".join(f"{one:<{most}}" for one, most in zip(row, wide, strict=True)) for row in said
        ]
        return "\n".join([*lines, *(f"  {row}".rstrip() for row in rows)])

    def html(self) -> str:
        """A `<table>`."""
        caption = html_element("caption", inline_html(self.caption)) if self.caption else ""
        # A head that says nothing is none: nobody is told of a column without a name.
        head = "".join(name.html("col" if name.said else "") for name in self.head)
        body = "".join(
            html_element("tr", "".join(cell.html() for cell in row)) for row in self.rows
        )
        top = html_element("thead", html_element("tr", head)) if head else ""
        return html_element("table", caption + top + html_element("tbody", body), **self.attributes)


class Figure(Part):
    """A picture with its words. `live`: drawn into a page that has the colours; otherwise an image, for any page."""

    def __init__(self, drawn: Drawn, title: str, *, live: bool = False, **attributes: Any) -> None:
        self.drawn, self.title, self.live, self.attributes = drawn, title, live, attributes

    def text(self) -> str:
        """All that it shows."""
        return self.drawn.text

    def html(self) -> str:
        """A `<figure>` with the picture, and its words folded below it."""
        scrolls = {
            "tabindex": 0,
            "role": "group",
            "aria_label": self.title,
            "data_keep": f"picture {self.title}",
        }
        if self.live:
            made = html_element("div", self.drawn.svg, class_="cl-holder", **scrolls)
        else:
            source = base64.b64encode(self.drawn.svg.encode()).decode()
            alt = gettext("{title}, told in words below", title=self.title)
            made = html_element(
                "div",
                html_element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}"),
                class_="cl-holder",
            )
        title = gettext("{title} in words", title=self.title)
        told = Fold(title, Code(self.drawn.text), data_keep=self.title).html()
        head = html_element("figcaption", inline_html(self.title), class_="cl-title")
        return html_element("figure", head + made + told, **self.attributes)


class InText(Box):
    """What only the text needs to say, for the page shows it in another way."""

    def html(self) -> str:
        """Nothing."""
        return ""


class InPage(Part):
    """What only a page has: a style, a script, something to press. `markup` is HTML; whoever makes it escapes."""

    def __init__(self, markup: str | Part) -> None:
        self.markup = markup

    def text(self) -> str:
        """Nothing."""
        return ""

    def html(self) -> str:
        """The markup."""
        return self.markup.html() if isinstance(self.markup, Part) else self.markup


class ListingLine(NamedTuple):
    """A line of a listing: the code, a note that stands behind it, its class in the page."""

    code: str
    note: str = ""
    kind: str | None = None


class Listing(Part):
    """Lines of code with their numbers, from 1: an `<ol>` that may scroll, and can be reached by key for that."""

    def __init__(self, lines: Iterable[ListingLine], **attributes: Any) -> None:
        lines = tuple(lines)
        rows = (
            html_element(
                "li",
                html_element("code", escape_lines(one.code))
                + (html_element("small", escape(one.note)) if one.note else ""),
                data_line=n,
                class_=one.kind,
            )
            for n, one in enumerate(lines, 1)
        )
        said = _number_lines([one.code + f"  {one.note}" * bool(one.note) for one in lines])
        html = html_element(
            "ol", "".join(rows), class_="cl-listing", tabindex=0, role="list", **attributes
        )
        super().__init__(indent_text("\n".join(said)), html)


def split_paragraphs(text: str) -> Box:
    """A text of several paragraphs, parts of it between lines of three backticks as code."""
    parts: list[Part] = []
    for number, piece in enumerate(_FENCE.split(text.strip())):
        if number % 2:
            parts.append(Code(piece))
        else:
            parts += [Paragraph(one) for one in re.split(r"\n\s*\n", piece.strip()) if one.strip()]
    return Box(*parts, apart=True)
