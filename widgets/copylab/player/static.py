"""The static form of a step-through: HTML that can be read anywhere, and plain text that leaves nothing out.

The HTML needs no script: a `<details>` for each step, pictures as images that carry their SVG. It stays readable in a
notebook that is not trusted, where scripts and styles are taken away. Where scripts run, the player's script, which
comes last, turns it into the player. Everything of the user's is escaped here.

Both together take less than LEVEL in the file of a notebook, whatever was stepped. What is left out for that is said
where it would stand.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import escape

from tinytorch.viz.catalogue import gettext, gettext_noop, ngettext

from ..doc import Alarm, Box, Items, Paragraph, Part, element, exact, indented, unbroken
from ..run.program import Text
from ..run.surroundings import cut, shown
from ..ui.theme import style, web
from .frames import Frame, Group, Picture, wrong_gradient
from .packing import Pack

Parts = Sequence[Group | Frame]

LEVEL = 2_000_000
"""Bytes that both forms of a step-through may take in a notebook."""

WORDS = 200_000
"""Of these, bytes that are kept free for pictures in words, in the plain text."""

STEPS = 800_000
"""Of these, bytes of all steps without their pictures; if it would take more, only the first steps are shown."""

ROOM = 400_000
"""Characters that a form gives to images; what is over goes into a table of parts, as far as that may go."""

CODE = 300_000
"""And so many of the code itself, about."""

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

    def form(self) -> str:
        """The static form without style and script: what the live form carries."""
        way = _Way(ROOM)
        inside = self._tree(way).html()
        if way.pack is not None:
            told = self._tree(_Way(0)).text()
            room = LEVEL - WORDS - sum(map(stored_size, (inside, web(*SCRIPTS), style(*SHEETS), told)))
            inside += f'<script type="application/json">{way.pack.json(room * 24 // 25, _SPARE)}</script>'
        sizes = {f"data_{kind}": f"{wide} {high}" for kind, (wide, high) in way.sizes.items()}
        return element("div", inside, class_="copylab-steps", aria_label=self.summary, **sizes)

    def page(self) -> str:
        """The static form with the script that turns it into the player."""
        made = self.form().removesuffix("</div>")
        return f'{made}<style>{style(*SHEETS)}</style><script type="module">{web(*SCRIPTS)}</script></div>'

    def plain(self, room: int | None = None) -> str:
        """The whole step-through as text: the code, then every step with its changes, outputs and pictures in words.

        room: so many bytes of a notebook; if it takes more, pictures that no longer fit are left out, and it says so.
        """
        told = self._tree(_Way()).text()
        if room is None or stored_size(told) <= room:
            return told
        way = _Way(room - 500 - stored_size(self._tree(_Way(0)).text()))
        told = self._tree(way).text()
        words = gettext(
            "Left out, to keep what a notebook stores below 2 MB, are pictures in words: {memory} of memory and "
            "{graph} of graph. With s = steps(...), print(s.text) tells all of it.",
            **{kind: f"{way.left.count(kind):,}" for kind in _TITLES},
        )
        return told + (" " if self.end else "\n\n") + words

    def how_many(self) -> int:
        """How many steps, from the first, there is room for."""
        room, shown = STEPS, 0
        for part in _flat(self.parts):
            if isinstance(part, Group):
                room -= 200 + stored_size("".join(map(escape, part.changes)))
            else:
                room -= stored_size(_Step(part, _Way(pictured=False)).html()) + 200
                shown += room >= 0
        return shown

    def _tree(self, way: _Way) -> Box:
        listings = [_Listing(text, several=len(self.texts) > 1) for text in self.texts]
        return Box(
            Box(Paragraph(f"**{exact(self.summary)}**"), *_fitting(listings)),
            *(_part(part, way, opened=True) for part in self.parts),
            Paragraph(exact(self.end), kind="cl-end", data_cut=self.cut) if self.end else None,
            apart=True,
        )


_SIZE = re.compile(r' viewBox="0 0 (\d+) (\d+)"')


@dataclass
class _Way:
    """How one form is made: as HTML, or as text; what there is room for, and what was made so far."""

    room: float = math.inf
    """Of HTML, characters for images, then there are parts that only the player can put together; of a text, bytes."""
    pictured: bool = True
    names: str = ""
    """Those of the step before."""
    pack: Pack | None = None
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    """How large the largest picture of each kind is: the room that the player keeps for it."""
    left: list[str] = field(default_factory=list)
    """The kinds of the pictures whose words were left out."""

    def named(self, frame: Frame) -> str | None:
        """Which name stands for which tensor, `x:T1 y:T2`, where that is not as in the step before."""
        seen = frame.step.seen
        pairs = () if seen is None else seen.snapshot.names[:NAMED]
        before, self.names = self.names, " ".join(f"{name}:{tid}" for name, tid in pairs if name.isidentifier())
        return None if self.names == before else self.names

    def told(self, kind: str, picture: Picture, frame: Frame) -> str:
        """A picture in words, or where they are."""
        title = gettext(_TITLES[kind])
        if picture.step != frame.number:
            return "  " + gettext("{title}: as in step {step}", title=title, step=picture.step)
        told = f"  {title}:\n{_deep(picture.text)}"
        instead = "  " + gettext("{title}: left out, see the end", title=title)
        cost = stored_size(told) - stored_size(instead)
        if 0 < cost > self.room:
            self.left.append(kind)
            return instead
        self.room -= cost
        return told

    def drawn(self, kind: str, picture: Picture, frame: Frame) -> str:
        """The HTML of a picture, or where to find it."""
        title, about = gettext(_TITLES[kind]), {"class_": "cl-picture", "data_picture": kind}
        if picture.step != frame.number:
            same = gettext("{title}: as in step {step}.", title=title, step=picture.step)
            return element("p", escape(same), **about, data_as=picture.step)
        if not picture.svg:
            words = gettext("This picture cannot be drawn here: {problem}", problem=picture.problem)
            told = element("pre", unbroken(f"{words}\n\n{picture.text}"))
            return element("div", element("strong", escape(title)) + told, **about)
        if size := _SIZE.search(picture.svg):
            wide, high = self.sizes.get(kind, (0, 0))
            self.sizes[kind] = max(wide, int(size[1])), max(high, int(size[2]))
        source = base64.b64encode(picture.svg.encode()).decode() if self.room > 0 else ""
        self.room -= len(source) + len(picture.text)
        if self.room <= 0:
            self.pack = self.pack or Pack()
            self.pack.add(f"{kind} svg", frame.number, picture.svg)
            self.pack.add(f"{kind} text", frame.number, picture.text)
            said = gettext("{title}: not shown here, there are too many pictures.", title=title)
            return element("p", escape(said), **about, data_packed=frame.number)
        after = gettext("{title} after step {number}", title=title, number=frame.number)
        alt = gettext("{title} after step {number}, told in words below", title=title, number=frame.number)
        image = element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}")
        words = element("summary", escape(gettext("{title} in words", title=title)))
        told = element("details", words + element("pre", unbroken(picture.text)))
        return element("figure", element("figcaption", escape(after)) + image + told, **about)


def _flat(parts: Iterable[Group | Frame]) -> Iterator[Group | Frame]:
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from _flat(part.parts)


def _part(part: Group | Frame, way: _Way, *, opened: bool) -> Part:
    return _Step(part, way) if isinstance(part, Frame) else _Fold(part, way, opened=opened)


class _Listing(Part):
    """The lines of a text, numbered; under its name where there are several."""

    def __init__(self, text: Text, *, several: bool) -> None:
        self.name = text.name if several else ""
        self.heading = text.name or gettext("The code") if several else ""
        lines = [cut(line, 2000).replace("\n", " ") for line in shown(text.code).splitlines()] or [""]
        digits = len(str(len(lines)))
        self.lines = [(f"{number:>{digits}}  ", line) for number, line in enumerate(lines, 1)]

    def shorten(self, room: int) -> int:
        """Keep the lines for which there is room, and the first; gives back the room that is left."""
        for at, (_, line) in enumerate(self.lines):
            room -= 2 * len(line) + 100  # it stands in both forms, and in a notebook on a line of its own
            if room < 0 < at:
                more = ngettext(
                    "... {number} more line, not shown", "... {number} more lines, not shown", len(self.lines) - at
                )
                number = len(str(len(self.lines)))
                self.lines[at:] = [(f"{at + 1:>{number}}  ", more)]
                return 0
        return room

    def text(self) -> str:
        told = indented("\n".join(f"{number}{line}".rstrip() for number, line in self.lines))
        return f"  {self.heading}:\n{told}" if self.heading else told

    def html(self) -> str:
        code = "\n".join(f"{number}<span class='cl-line'>{escape(line)}</span>" for number, line in self.lines)
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

    def __init__(self, group: Group, way: _Way, *, opened: bool) -> None:
        self.group, self.opened = group, opened and group.last - group.first < SHORT
        self.parts = [_part(part, way, opened=self.opened) for part in group.parts]

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

    def __init__(self, frame: Frame, way: _Way) -> None:
        self.frame, self.way = frame, way
        self.title = gettext("Step {number}, {title}", number=frame.number, title=frame.title)
        told, why = (
            tuple(cut(one, 500).replace("\n", " ") for one in said) for said in (frame.changes, frame.explanation)
        )
        self.alarm = (
            Alarm(wrong_gradient(), Items(map(exact, why), kind="cl-why"), kind="wrong") if frame.wrong else None
        )
        self.says = told if frame.wrong else told + why
        if not self.says and frame.step.error is None:
            self.says = (_nothing(),)
        self.outputs = [_Output(kind, text.rstrip("\n")) for kind, text in frame.step.output]
        if frame.step.error is not None:
            self.outputs.append(_Output("raised" if frame.step.caught else "error", frame.step.error))

    def text(self) -> str:
        pictures = (self.way.told(kind, one, self.frame) for kind, one in self.frame.pictures.items())
        says = [f"  - {one}" for one in self.says]
        says += [indented(self.alarm.text())] if self.alarm else []
        return "\n".join([self.title, *says, *(output.text() for output in self.outputs), *pictures])

    def html(self) -> str:
        frame, site = self.frame, self.frame.step.site
        inside = element("summary", escape(self.title)) + _listed(self.says)
        inside += self.alarm.html() if self.alarm else ""
        inside += "".join(output.html() for output in self.outputs)
        if self.way.pictured:
            inside += "".join(self.way.drawn(kind, one, frame) for kind, one in frame.pictures.items())
        return element(
            "details",
            inside,
            class_="cl-step",
            data_code=frame.code or None,
            data_line=site.line,
            data_end=site.end_line,
            data_kind="wrong" if frame.wrong else frame.step.kind,
            data_calls=" ".join(frame.step.calls) or None,
            data_names=self.way.named(frame),
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
        inside = element("strong", escape(self.title)) + element("pre", unbroken(self.said), **about)
        kind = _KINDS[self.kind].partition(",")[0].lower().replace(" ", "-")
        return element("div", inside, class_=f"cl-out cl-{kind}")


def _deep(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
