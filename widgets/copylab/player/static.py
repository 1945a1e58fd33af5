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

from ..doc import Alarm, Box, Items, Paragraph, Part, element, exact, indented, unbroken
from ..run import Text, cut, shown
from ..ui import style, web
from .frames import Frame, Group, Picture, wrong_gradient
from .packing import Pack

Parts = Sequence[Group | Frame]

LEVEL = 2_000_000
"""Bytes that both forms of a step-through may take in a notebook."""

PAGE = 145_000
"""Bytes of the HTML up to which pictures are images. A page above it has its pictures in the pack alone."""

WORDS = 200_000
"""Bytes of LEVEL for the changes of pictures in words, once in the HTML and once in the plain text."""

STEPS = 800_000
"""Of these, bytes of all steps without their pictures; if it would take more, only the first steps are shown."""

CODE = 300_000
"""Of LEVEL, bytes of the code, about."""

NAMED = 40
"""Names of a step whose tensors are told, so that the code can show them in their hues."""

SHORT = 12
"""A loop or call of no more steps is open from the start."""

_TITLES = {"memory": gettext_noop("Memory"), "graph": gettext_noop("Graph")}
# What is left out last. Of many tensors, the graph is the harder one to read.
_SPARE = ("memory text", "graph text", "memory svg", "graph svg")
_KINDS = {
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


def policy() -> str:
    """What a page that holds nothing but a player lets run: its script, whatever else the texts might bring along."""
    digest = base64.b64encode(sha256(web(*SCRIPTS).encode()).digest()).decode()
    return f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def stored_size(text: str) -> int:
    """How many bytes a text takes in the file of a notebook, which keeps each line as a string on a line of its own."""
    return len(json.dumps(text, ensure_ascii=False).encode()) + 11 * text.count("\n")


@dataclass
class Sheet:
    """What is shown of a run: the code, its parts, what it is in half a sentence, and how it ended."""

    texts: tuple[Text, ...]
    parts: Parts
    summary: str
    end: str
    cut: bool = False
    """Whether the run, or what is shown of it, was cut short: the reader is to know it from the start."""

    def form(self, *, images: bool = True) -> str:
        """The static form without style and script: what the live form carries.

        images: whether pictures are images as far as PAGE allows. All others are in the pack.
        """
        plan = _Plan(words=self._words_within(WORDS), names=_names_by_step(self._frames))
        steps, pack = self._tree(plan).html(), self._pack(without=frozenset())
        rest = sum(map(stored_size, (steps, web(*SCRIPTS), style(*SHEETS))))
        room = (LEVEL - WORDS - rest - stored_size(self._tree(_Plan()).text())) * 24 // 25
        packed = pack.json(room, _SPARE)
        drawn = self._first_images(PAGE - rest - stored_size(packed)) if images else frozenset()
        if drawn:
            steps = self._tree(replace(plan, images=drawn)).html()
            packed = self._pack(without=drawn).json(room, _SPARE)
        inside = f'{steps}<script type="application/json">{packed}</script>'
        sizes = {
            f"data_{kind}": f"{size[0]} {size[1]}" for kind, size in self._largest_sizes.items()
        }
        return element("div", inside, class_="copylab-steps", aria_label=self.summary, **sizes)

    def page(self) -> str:
        """The static form with the script that turns it into the player."""
        opened = self.form().removesuffix("</div>")
        return f'{opened}<style>{style(*SHEETS)}</style><script type="module">{web(*SCRIPTS)}</script></div>'

    def full_text(self) -> str:
        """The whole step-through as text: the code, then every step with its changes, outputs and pictures in words."""
        return self._tree(_Plan(words=frozenset(self._pictures), whole=True)).text()

    def brief_text(self, room: int) -> str:
        """The step-through as text, of each picture only what the step changed in it.

        room: so many bytes of a notebook; if it takes more, pictures that no longer fit are left out, and it says so.
        """
        everything = self._tree(_Plan(words=frozenset(self._pictures))).text()
        if stored_size(everything) <= room:
            return everything
        room -= 500 + stored_size(self._tree(_Plan()).text())
        fitting: set[_Key] = set()
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
            **{kind: f"{left_out.count(kind):,}" for kind in _TITLES},
        )
        return (
            self._tree(_Plan(words=frozenset(fitting))).text()
            + (" " if self.end else "\n\n")
            + words
        )

    def how_many(self) -> int:
        """How many steps, from the first, there is room for."""
        room, shown = STEPS, 0
        for part in _flat(self.parts):
            if isinstance(part, Group):
                room -= 200 + stored_size("".join(map(escape, part.changes)))
            else:
                room -= stored_size(_Step(part, _Plan(pictured=False)).html()) + 200
                shown += room >= 0
        return shown

    @cached_property
    def _frames(self) -> tuple[Frame, ...]:
        return tuple(part for part in _flat(self.parts) if isinstance(part, Frame))

    @cached_property
    def _pictures(self) -> dict[_Key, Picture]:
        """Each picture that is not the same as an earlier one, in the order of the steps."""
        found: dict[_Key, Picture] = {}
        for frame in self._frames:
            for kind, picture in frame.pictures.items():
                if picture.step == frame.number:
                    found[_Key(kind, frame.number)] = picture
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

    def _words_within(self, room: int) -> frozenset[_Key]:
        """The first pictures of which the changes in words take no more bytes than this."""
        fitting: set[_Key] = set()
        for key in self._pictures:
            cost = stored_size(
                "\n".join(self._frames[key.number - 1].picture_changes.get(key.kind, ()))
            )
            if cost <= room:
                fitting.add(key)
                room -= cost
        return frozenset(fitting)

    def _first_images(self, room: int) -> frozenset[_Key]:
        """The first pictures that take no more bytes than this as images.

        The first ones and no gaps: a reader without scripts has pictures of the beginning, and words from then on.
        """
        drawn: set[_Key] = set()
        for key, picture in self._pictures.items():
            room -= stored_size(_image(key.kind, key.number, picture))
            if room < 0:
                break
            drawn.add(key)
        return frozenset(drawn)

    def _pack(self, *, without: frozenset[_Key]) -> Pack:
        """The pictures without those that are images, and all of them in words, for the player's script."""
        pack = Pack()
        for key, picture in self._pictures.items():
            if not picture.svg:
                continue
            pack.add(f"{key.kind} text", key.number, picture.text)
            if key not in without:
                pack.add(f"{key.kind} svg", key.number, picture.svg)
        return pack

    def _tree(self, plan: _Plan) -> Box:
        listings = [_Listing(text, several=len(self.texts) > 1) for text in self.texts]
        return Box(
            Box(Paragraph(f"**{exact(self.summary)}**"), *_fitting(listings)),
            *(_part(part, plan, opened=True) for part in self.parts),
            Paragraph(exact(self.end), kind="cl-end", data_cut=self.cut) if self.end else None,
            apart=True,
        )


_SIZE = re.compile(r' viewBox="0 0 (\d+) (\d+)"')


class _Key(NamedTuple):
    """A picture of a run: its kind, and the number of the step that has it first."""

    kind: str
    number: int


@dataclass(frozen=True)
class _Plan:
    """How one form is rendered. It is decided before, so that rendering changes nothing."""

    images: frozenset[_Key] = frozenset()
    """The pictures that are images in the HTML."""
    words: frozenset[_Key] = frozenset()
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
        pairs = () if seen is None else seen.snapshot.names[:NAMED]
        names = " ".join(f"{name}:{tid}" for name, tid in pairs if name.isidentifier())
        if names != before:
            found[frame.number] = before = names
    return found


def _words_of_picture(kind: str, frame: Frame, *, whole: bool = False) -> str:
    """A picture as lines of the text: all of it, or what the step changed; empty if that is nothing."""
    picture, title = frame.pictures[kind], gettext(_TITLES[kind])
    changed = frame.picture_changes.get(kind, ())
    if not (whole or changed):
        return ""
    if picture.step != frame.number:
        return "  " + gettext("{title}: as in step {step}", title=title, step=picture.step)
    if whole:
        return f"  {title}:\n{_deep(picture.text)}"
    heading = gettext("{title}, what changed:", title=title)
    return f"  {heading}\n{_deep(chr(10).join(changed))}"


def _words_left_out(kind: str) -> str:
    return "  " + gettext("{title}: left out, see the end", title=gettext(_TITLES[kind]))


def _image(kind: str, number: int, picture: Picture) -> str:
    alt = gettext(
        "{title} after step {number}; below is what changed",
        title=gettext(_TITLES[kind]),
        number=number,
    )
    source = base64.b64encode(picture.svg.encode()).decode()
    return element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}")


def _html_of_picture(kind: str, frame: Frame, plan: _Plan) -> str:
    """A picture in the HTML: an image if there is room, and what changed in words; or where to find it."""
    picture, title, number = frame.pictures[kind], gettext(_TITLES[kind]), frame.number
    about: dict[str, Any] = {"class_": "cl-picture", "data_picture": kind}
    if picture.step != number:
        same = gettext("{title}: as in step {step}.", title=title, step=picture.step)
        return element("p", escape(same), **about, data_as=picture.step)
    if not picture.svg:
        words = gettext("This picture cannot be drawn here: {problem}", problem=picture.problem)
        text = element("pre", unbroken(f"{words}\n\n{picture.text}"))
        return element("div", element("strong", escape(title)) + text, **about)
    key = _Key(kind, number)
    about["data_packed"] = number
    if key not in plan.words:
        missing = gettext("{title}: not shown here, there are too many pictures.", title=title)
        return element("p", escape(missing), **about)
    changed = frame.picture_changes.get(kind, ())
    text = element("pre", unbroken("\n".join(changed))) if changed else ""
    if key in plan.images:
        after = gettext("{title} after step {number}", title=title, number=number)
        caption = element("figcaption", escape(after))
        return element("figure", caption + _image(kind, number, picture) + text, **about)
    heading = (
        element("p", escape(gettext("{title}, what changed:", title=title))) if changed else ""
    )
    return element("div", heading + text, **about)


def _flat(parts: Iterable[Group | Frame]) -> Iterator[Group | Frame]:
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from _flat(part.parts)


def _part(part: Group | Frame, plan: _Plan, *, opened: bool) -> Part:
    return _Step(part, plan) if isinstance(part, Frame) else _Fold(part, plan, opened=opened)


class _Listing(Part):
    """The lines of a text, numbered; under its name where there are several."""

    def __init__(self, text: Text, *, several: bool) -> None:
        self.name = text.name if several else ""
        self.heading = text.name or gettext("The code") if several else ""
        lines = [cut(line, 2000).replace("\n", " ") for line in shown(text.code).splitlines()] or [
            ""
        ]
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
        told = indented("\n".join(f"{number}{line}".rstrip() for number, line in self.lines))
        return f"  {self.heading}:\n{told}" if self.heading else told

    def html(self) -> str:
        code = "\n".join(
            f"{number}<span class='cl-line'>{escape(line)}</span>" for number, line in self.lines
        )
        made = element("pre", code, class_="cl-code", data_name=self.name or None)
        return (element("p", escape(self.heading), class_="cl-of") if self.heading else "") + made


def _fitting(listings: list[_Listing]) -> list[_Listing]:
    """The listings, of very many lines as far as there is room."""
    room = CODE
    for listing in listings:
        room = listing.shorten(room)
    return listings


class _Fold(Part):
    """The steps of a loop, a round or a call under one title."""

    def __init__(self, group: Group, plan: _Plan, *, opened: bool) -> None:
        self.group, self.opened = group, opened and group.last - group.first < SHORT
        self.parts = [_part(part, plan, opened=self.opened) for part in group.parts]

    def text(self) -> str:
        return "\n\n".join([self.group.summary, *(part.text() for part in self.parts)])

    def html(self) -> str:
        group = self.group
        inside = element("summary", escape(group.summary)) + _listed(group.changes or (_nothing(),))
        inside += "".join(part.html() for part in self.parts)
        return element(
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


class _Step(Part):
    """One step: what it changed, what it printed, its pictures."""

    def __init__(self, frame: Frame, plan: _Plan) -> None:
        self.frame, self.plan = frame, plan
        self.title = gettext("Step {number}, {title}", number=frame.number, title=frame.title)
        told, why = (
            tuple(cut(one, 500).replace("\n", " ") for one in said)
            for said in (frame.changes, frame.explanation)
        )
        self.alarm = (
            Alarm(wrong_gradient(), Items(map(exact, why), kind="cl-why"), kind="wrong")
            if frame.wrong
            else None
        )
        self.says = told if frame.wrong else told + why
        if not self.says and frame.step.error is None:
            self.says = (_nothing(),)
        self.outputs = [_Output(kind, text.rstrip("\n")) for kind, text in frame.step.output]
        if frame.step.error is not None:
            self.outputs.append(
                _Output("raised" if frame.step.caught else "error", frame.step.error)
            )

    def text(self) -> str:
        pictures = filter(None, map(self._words_of, self.frame.pictures))
        says = [f"  - {one}" for one in self.says]
        says += [indented(self.alarm.text())] if self.alarm else []
        return "\n".join(
            [self.title, *says, *(output.text() for output in self.outputs), *pictures]
        )

    def _words_of(self, kind: str) -> str:
        words = _words_of_picture(kind, self.frame, whole=self.plan.whole)
        own = self.frame.pictures[kind].step == self.frame.number
        left_out = own and _Key(kind, self.frame.number) not in self.plan.words
        return _words_left_out(kind) if words and left_out else words

    def html(self) -> str:
        frame, site = self.frame, self.frame.step.site
        inside = element("summary", escape(self.title)) + _listed(self.says)
        inside += self.alarm.html() if self.alarm else ""
        inside += "".join(output.html() for output in self.outputs)
        if self.plan.pictured:
            inside += "".join(_html_of_picture(kind, frame, self.plan) for kind in frame.pictures)
        return element(
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


def _nothing() -> str:
    return gettext("Nothing changed in memory or on the graph.")


def _listed(says: Iterable[str]) -> str:
    return element("ul", "".join(element("li", escape(one)) for one in says), class_="cl-says")


class _Output(Part):
    """What a step printed, or the error that it raised."""

    def __init__(self, kind: str, said: str) -> None:
        self.kind, self.title, self.said = kind, gettext(_KINDS[kind]), said

    def text(self) -> str:
        return f"  {self.title}:\n{_deep(self.said)}"

    def html(self) -> str:
        scrolls = len(self.said) > 500 or self.said.count("\n") > 9
        about = {"tabindex": 0, "role": "region", "aria_label": self.title} if scrolls else {}
        inside = element("strong", escape(self.title)) + element(
            "pre", unbroken(self.said), **about
        )
        kind = _KINDS[self.kind].partition(",")[0].lower().replace(" ", "-")
        return element("div", inside, class_=f"cl-out cl-{kind}")


def _deep(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
