"""The static form of a step-through: HTML that can be read anywhere, and plain text.

The HTML needs no script: a `<details>` for each step, with what it changed in words, and images that carry their SVG.
It stays readable in a notebook that is not trusted, where scripts and styles are taken away. Where scripts run, the
player's script, which comes last, turns it into the player. Everything of the user's is escaped here.

Repeated content is stored once: pictures are in a pack (see `packing`), and words say what each step changed. As many
pictures as PAGE allows are images, too, for readers without scripts.

Both together take less than LEVEL in the file of a notebook, whatever was stepped. What is left out for that is said
where it would stand.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from html import escape
from typing import Any, NamedTuple

from tinytorch.viz import gettext, gettext_noop, ngettext

from ..doc import (
    Alarm,
    Box,
    Items,
    Paragraph,
    Part,
    escape_lines,
    html_element,
    indent_text,
    protect_marks,
)
from ..run import SourceText, make_printable, truncate_text
from ..ui import panel_style_sheet, read_web_files
from .frames import Frame, Group, StepPicture, wrong_gradient_title
from .packing import Pack

Parts = Sequence[Group | Frame]

NOTEBOOK_LIMIT = 2_000_000
"""Bytes that both forms of a step-through may take in a notebook."""

PAGE_LIMIT = 145_000
"""Bytes of the HTML up to which pictures are images. A page above it has its pictures in the pack alone."""

WORDS_LIMIT = 200_000
"""Bytes of LEVEL for the changes of pictures in words, once in the HTML and once in the plain text."""

STEPS_LIMIT = 800_000
"""Of these, bytes of all steps without their pictures; if it would take more, only the first steps are shown."""

CODE_LIMIT = 300_000
"""Of LEVEL, bytes of the code, about."""

MAX_NAMES = 40
"""Names of a step whose tensors are told, so that the code can show them in their hues."""

OPEN_LIMIT = 12
"""A loop or call of no more steps is open from the start."""

_PICTURE_TITLES = {"memory": gettext_noop("Memory"), "graph": gettext_noop("Graph")}
# What is left out last. Of many tensors, the graph is the harder one to read.
_DISPENSABLE_KINDS = ("memory text", "graph text", "memory svg", "graph svg")
_OUTPUT_TITLES = {
    "out": gettext_noop("Output"),
    "err": gettext_noop("Error output"),
    "warning": gettext_noop("Warning"),
    "value": gettext_noop("Value"),
    "cut": gettext_noop("Cut"),
    "raised": gettext_noop("Raised, and caught"),
    "error": gettext_noop("Error"),
}


SCRIPTS = ("ui/seen.js", "player/picture.js", "player/player.js")
SHEETS = ("player/player.css",)


def content_policy() -> str:
    """What a page that holds nothing but a player lets run: its script, whatever else the texts might bring along."""
    digest = base64.b64encode(sha256(read_web_files(*SCRIPTS).encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def stored_size(text: str) -> int:
    """How many bytes a text takes in the file of a notebook, which keeps each line as a string on a line of its own."""
    return len(json.dumps(text, ensure_ascii=False).encode()) + 11 * text.count("\n")


@dataclass
class StaticForm:
    """What is shown of a run: the code, its parts, what it is in half a sentence, and how it ended."""

    texts: tuple[SourceText, ...]
    parts: Parts
    summary: str
    end: str
    cut: bool = False
    """Whether the run, or what is shown of it, was cut short: the reader is to know it from the start."""

    def form(self, *, images: bool = True) -> str:
        """The static form without style and script: what the live form carries.

        images: whether pictures are images as far as PAGE allows. All others are in the pack.
        """
        plan = RenderPlan(words=self._words_within(WORDS_LIMIT), names=_names_by_step(self._frames))
        steps, pack = self._tree(plan).html(), self._pack(without=frozenset())
        rest = sum(map(stored_size, (steps, read_web_files(*SCRIPTS), panel_style_sheet(*SHEETS))))
        room = (
            (NOTEBOOK_LIMIT - WORDS_LIMIT - rest - stored_size(self._tree(RenderPlan()).text()))
            * 24
            // 25
        )
        packed = pack.json(room, _DISPENSABLE_KINDS)
        drawn = (
            self._first_images(PAGE_LIMIT - rest - stored_size(packed)) if images else frozenset()
        )
        if drawn:
            steps = self._tree(replace(plan, images=drawn)).html()
            packed = self._pack(without=drawn).json(room, _DISPENSABLE_KINDS)
        inside = f'{steps}<script type="application/json">{packed}</script>'
        sizes = {
            f"data_{kind}": f"{size[0]} {size[1]}" for kind, size in self._largest_sizes.items()
        }
        return html_element("div", inside, class_="copylab-steps", aria_label=self.summary, **sizes)

    def page(self) -> str:
        """The static form with the script that turns it into the player."""
        opened = self.form().removesuffix("</div>")
        style = html_element("style", panel_style_sheet(*SHEETS))
        script = html_element("script", read_web_files(*SCRIPTS), type="module")
        return f"{opened}{style}{script}</div>"

    def full_text(self) -> str:
        """The whole step-through as text: the code, then every step with its changes, outputs and pictures in words."""
        return self._tree(RenderPlan(words=frozenset(self._pictures), whole=True)).text()

    def brief_text(self, room: int) -> str:
        """The step-through as text, of each picture only what the step changed in it.

        room: so many bytes of a notebook; if it takes more, pictures that no longer fit are left out, and it says so.
        """
        everything = self._tree(RenderPlan(words=frozenset(self._pictures))).text()
        if stored_size(everything) <= room:
            return everything
        room -= 500 + stored_size(self._tree(RenderPlan()).text())
        fitting: set[PictureKey] = set()
        for key in self._pictures:
            frame = self._frames[key.number - 1]
            cost = stored_size(_words_of_picture(key.kind, frame)) - stored_size(
                _words_left_out(key.kind)
            )
            if cost <= max(room, 0):
                fitting.add(key)
                room -= cost
        left_out = [key.kind for key in self._pictures if key not in fitting]
        words = gettext(
            "Left out, to keep what a notebook stores below 2 MB, are pictures in words: {memory} of memory and "
            "{graph} of graph. With s = steps(...), print(s.text) tells all of it.",
            **{kind: f"{left_out.count(kind):,}" for kind in _PICTURE_TITLES},
        )
        return (
            self._tree(RenderPlan(words=frozenset(fitting))).text()
            + (" " if self.end else "\n\n")
            + words
        )

    def how_many(self) -> int:
        """How many steps, from the first, there is room for."""
        room, shown = STEPS_LIMIT, 0
        for part in _walk_parts(self.parts):
            if isinstance(part, Group):
                room -= 200 + stored_size("".join(map(escape, part.changes)))
            else:
                room -= stored_size(_StepPart(part, RenderPlan(pictured=False)).html()) + 200
                shown += room >= 0
        return shown

    @cached_property
    def _frames(self) -> tuple[Frame, ...]:
        return tuple(part for part in _walk_parts(self.parts) if isinstance(part, Frame))

    @cached_property
    def _pictures(self) -> dict[PictureKey, StepPicture]:
        """Each picture that is not the same as an earlier one, in the order of the steps."""
        found: dict[PictureKey, StepPicture] = {}
        for frame in self._frames:
            for kind, picture in frame.pictures.items():
                if picture.step == frame.number:
                    found[PictureKey(kind, frame.number)] = picture
        return found

    @cached_property
    def _largest_sizes(self) -> dict[str, tuple[int, int]]:
        """The size of the largest picture of each kind: the room that the player reserves for it."""
        sizes: dict[str, tuple[int, int]] = {}
        for key, picture in self._pictures.items():
            if size := _SIZE.search(picture.svg):
                wide, high = sizes.get(key.kind, (0, 0))
                sizes[key.kind] = max(wide, int(size[1])), max(high, int(size[2]))
        return sizes

    def _words_within(self, room: int) -> frozenset[PictureKey]:
        """The first pictures of which the changes in words take no more bytes than this."""
        fitting: set[PictureKey] = set()
        for key in self._pictures:
            cost = stored_size(
                "\n".join(self._frames[key.number - 1].picture_changes.get(key.kind, ()))
            )
            if cost <= room:
                fitting.add(key)
                room -= cost
        return frozenset(fitting)

    def _first_images(self, room: int) -> frozenset[PictureKey]:
        """The first pictures that take no more bytes than this as images.

        The first ones and no gaps: a reader without scripts has pictures of the beginning, and words from then on.
        """
        drawn: set[PictureKey] = set()
        for key, picture in self._pictures.items():
            room -= stored_size(_image(key.kind, key.number, picture))
            if room < 0:
                break
            drawn.add(key)
        return frozenset(drawn)

    def _pack(self, *, without: frozenset[PictureKey]) -> Pack:
        """The pictures without those that are images, and all of them in words, for the player's script."""
        pack = Pack()
        for key, picture in self._pictures.items():
            if not picture.svg:
                continue
            pack.add(f"{key.kind} text", key.number, picture.text)
            if key not in without:
                pack.add(f"{key.kind} svg", key.number, picture.svg)
        return pack

    def _tree(self, plan: RenderPlan) -> Box:
        listings = [_CodeListing(text, several=len(self.texts) > 1) for text in self.texts]
        return Box(
            Box(Paragraph(f"**{protect_marks(self.summary)}**"), *_fit_listings(listings)),
            *(_make_part(part, plan, opened=True) for part in self.parts),
            Paragraph(protect_marks(self.end), kind="cl-end", data_cut=self.cut)
            if self.end
            else None,
            apart=True,
        )


_SIZE = re.compile(r' viewBox="0 0 (\d+) (\d+)"')


class PictureKey(NamedTuple):
    """A picture of a run: its kind, and the number of the step that has it first."""

    kind: str
    number: int


@dataclass(frozen=True)
class RenderPlan:
    """How one form is rendered. It is decided before, so that rendering changes nothing."""

    images: frozenset[PictureKey] = frozenset()
    """The pictures that are images in the HTML."""
    words: frozenset[PictureKey] = frozenset()
    """The pictures for whose words there is room."""
    whole: bool = False
    """Whether the text has all of a picture in words, or only what the step changed in it."""
    pictured: bool = True
    """Whether the HTML has pictures."""
    names: Mapping[int, str] = field(default_factory=dict)
    """Step -> which name is which tensor, `x:T1 y:T2`, where that is not as in the step before."""


def _names_by_step(frames: Iterable[Frame]) -> dict[int, str]:
    found: dict[int, str] = {}
    before = ""
    for frame in frames:
        seen = frame.step.seen
        pairs = () if seen is None else seen.snapshot.names[:MAX_NAMES]
        names = " ".join(f"{name}:{tid}" for name, tid in pairs if name.isidentifier())
        if names != before:
            found[frame.number] = before = names
    return found


def _words_of_picture(kind: str, frame: Frame, *, whole: bool = False) -> str:
    """A picture as lines of the text: all of it, or what the step changed; empty if that is nothing."""
    picture, title = frame.pictures[kind], gettext(_PICTURE_TITLES[kind])
    changed = frame.picture_changes.get(kind, ())
    if not (whole or changed):
        return ""
    if picture.step != frame.number:
        return "  " + gettext("{title}: as in step {step}", title=title, step=picture.step)
    if whole:
        return f"  {title}:\n{_indent_twice(picture.text)}"
    heading = gettext("{title}, what changed:", title=title)
    return f"  {heading}\n{_indent_twice(chr(10).join(changed))}"


def _words_left_out(kind: str) -> str:
    return "  " + gettext("{title}: left out, see the end", title=gettext(_PICTURE_TITLES[kind]))


def _image(kind: str, number: int, picture: StepPicture) -> str:
    alt = gettext(
        "{title} after step {number}; below is what changed",
        title=gettext(_PICTURE_TITLES[kind]),
        number=number,
    )
    source = base64.b64encode(picture.svg.encode()).decode()
    return html_element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}")


def _html_of_picture(kind: str, frame: Frame, plan: RenderPlan) -> str:
    """A picture in the HTML: an image if there is room, and what changed in words; or where to find it."""
    picture, title, number = frame.pictures[kind], gettext(_PICTURE_TITLES[kind]), frame.number
    about: dict[str, Any] = {"class_": "cl-picture", "data_picture": kind}
    if picture.step != number:
        same = gettext("{title}: as in step {step}.", title=title, step=picture.step)
        return html_element("p", escape(same), **about, data_as=picture.step)
    if not picture.svg:
        words = gettext("This picture cannot be drawn here: {problem}", problem=picture.problem)
        text = html_element("pre", escape_lines(f"{words}\n\n{picture.text}"))
        return html_element("div", html_element("strong", escape(title)) + text, **about)
    key = PictureKey(kind, number)
    about["data_packed"] = number
    if key not in plan.words:
        missing = gettext("{title}: not shown here, there are too many pictures.", title=title)
        return html_element("p", escape(missing), **about)
    changed = frame.picture_changes.get(kind, ())
    text = html_element("pre", escape_lines("\n".join(changed))) if changed else ""
    if key in plan.images:
        after = gettext("{title} after step {number}", title=title, number=number)
        caption = html_element("figcaption", escape(after))
        return html_element("figure", caption + _image(kind, number, picture) + text, **about)
    heading = (
        html_element("p", escape(gettext("{title}, what changed:", title=title))) if changed else ""
    )
    return html_element("div", heading + text, **about)


def _walk_parts(parts: Iterable[Group | Frame]) -> Iterator[Group | Frame]:
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from _walk_parts(part.parts)


def _make_part(part: Group | Frame, plan: RenderPlan, *, opened: bool) -> Part:
    return (
        _StepPart(part, plan) if isinstance(part, Frame) else _GroupPart(part, plan, opened=opened)
    )


class _CodeListing(Part):
    """The lines of a text, numbered; under its name where there are several."""

    def __init__(self, text: SourceText, *, several: bool) -> None:
        self.name = text.name if several else ""
        self.heading = text.name or gettext("The code") if several else ""
        lines = [
            truncate_text(line, 2000).replace("\n", " ")
            for line in make_printable(text.code).splitlines()
        ] or [""]
        digits = len(str(len(lines)))
        self.lines = [(f"{number:>{digits}}  ", line) for number, line in enumerate(lines, 1)]

    def shorten(self, room: int) -> int:
        """Keep the lines for which there is room, and the first; gives back the room that is left."""
        for at, (_, line) in enumerate(self.lines):
            room -= (
                2 * len(line) + 100
            )  # it stands in both forms, and in a notebook on a line of its own
            if room < 0 < at:
                more = ngettext(
                    "... {number} more line, not shown",
                    "... {number} more lines, not shown",
                    len(self.lines) - at,
                )
                number = len(str(len(self.lines)))
                self.lines[at:] = [(f"{at + 1:>{number}}  ", more)]
                return 0
        return room

    def text(self) -> str:
        told = indent_text("\n".join(f"{number}{line}".rstrip() for number, line in self.lines))
        return f"  {self.heading}:\n{told}" if self.heading else told

    def html(self) -> str:
        code = "\n".join(
            f"{number}<span class='cl-line'>{escape(line)}</span>" for number, line in self.lines
        )
        made = html_element("pre", code, class_="cl-code", data_name=self.name or None)
        return (
            html_element("p", escape(self.heading), class_="cl-of") if self.heading else ""
        ) + made


def _fit_listings(listings: list[_CodeListing]) -> list[_CodeListing]:
    """The listings, of very many lines as far as there is room."""
    room = CODE_LIMIT
    for listing in listings:
        room = listing.shorten(room)
    return listings


class _GroupPart(Part):
    """The steps of a loop, a round or a call under one title."""

    def __init__(self, group: Group, plan: RenderPlan, *, opened: bool) -> None:
        self.group, self.opened = group, opened and group.last - group.first < OPEN_LIMIT
        self.parts = [_make_part(part, plan, opened=self.opened) for part in group.parts]

    def text(self) -> str:
        return "\n\n".join([self.group.summary, *(part.text() for part in self.parts)])

    def html(self) -> str:
        group = self.group
        inside = html_element("summary", escape(group.summary)) + _list_of_changes(
            group.changes or (_nothing_changed(),)
        )
        inside += "".join(part.html() for part in self.parts)
        return html_element(
            "details",
            inside,
            class_="cl-group",
            data_kind=group.kind,
            data_code=group.code or None,
            data_line=group.line,
            data_first=group.first,
            data_last=group.last,
            open=self.opened,
        )


class _StepPart(Part):
    """One step: what it changed, what it printed, its pictures."""

    def __init__(self, frame: Frame, plan: RenderPlan) -> None:
        self.frame, self.plan = frame, plan
        self.title = gettext("Step {number}, {title}", number=frame.number, title=frame.title)
        told, why = (
            tuple(truncate_text(one, 500).replace("\n", " ") for one in said)
            for said in (frame.changes, frame.explanation)
        )
        self.alarm = (
            Alarm(
                wrong_gradient_title(), Items(map(protect_marks, why), kind="cl-why"), kind="wrong"
            )
            if frame.wrong
            else None
        )
        self.says = told if frame.wrong else told + why
        if not self.says and frame.step.error is None:
            self.says = (_nothing_changed(),)
        self.outputs = [_OutputPart(kind, text.rstrip("\n")) for kind, text in frame.step.output]
        if frame.step.error is not None:
            self.outputs.append(
                _OutputPart("raised" if frame.step.caught else "error", frame.step.error)
            )

    def text(self) -> str:
        pictures = filter(None, map(self._words_of, self.frame.pictures))
        says = [f"  - {one}" for one in self.says]
        says += [indent_text(self.alarm.text())] if self.alarm else []
        return "\n".join(
            [self.title, *says, *(output.text() for output in self.outputs), *pictures]
        )

    def _words_of(self, kind: str) -> str:
        words = _words_of_picture(kind, self.frame, whole=self.plan.whole)
        own = self.frame.pictures[kind].step == self.frame.number
        left_out = own and PictureKey(kind, self.frame.number) not in self.plan.words
        return _words_left_out(kind) if words and left_out else words

    def html(self) -> str:
        frame, site = self.frame, self.frame.step.site
        inside = html_element("summary", escape(self.title)) + _list_of_changes(self.says)
        inside += self.alarm.html() if self.alarm else ""
        inside += "".join(output.html() for output in self.outputs)
        if self.plan.pictured:
            inside += "".join(_html_of_picture(kind, frame, self.plan) for kind in frame.pictures)
        return html_element(
            "details",
            inside,
            class_="cl-step",
            data_code=frame.code or None,
            data_line=site.line,
            data_end=site.end_line,
            data_kind="wrong" if frame.wrong else frame.step.kind,
            data_calls=" ".join(frame.step.calls) or None,
            data_names=self.plan.names.get(frame.number),
            open=frame.number == 1,
        )


def _nothing_changed() -> str:
    return gettext("Nothing changed in memory or on the graph.")


def _list_of_changes(says: Iterable[str]) -> str:
    return html_element(
        "ul", "".join(html_element("li", escape(one)) for one in says), class_="cl-says"
    )


class _OutputPart(Part):
    """What a step printed, or the error that it raised."""

    def __init__(self, kind: str, said: str) -> None:
        self.kind, self.title, self.said = kind, gettext(_OUTPUT_TITLES[kind]), said

    def text(self) -> str:
        return f"  {self.title}:\n{_indent_twice(self.said)}"

    def html(self) -> str:
        scrolls = len(self.said) > 500 or self.said.count("\n") > 9
        about = {"tabindex": 0, "role": "region", "aria_label": self.title} if scrolls else {}
        inside = html_element("strong", escape(self.title)) + html_element(
            "pre", escape_lines(self.said), **about
        )
        kind = _OUTPUT_TITLES[self.kind].partition(",")[0].lower().replace(" ", "-")
        return html_element("div", inside, class_=f"cl-out cl-{kind}")


def _indent_twice(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
