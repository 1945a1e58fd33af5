"""The static form of a step-through: HTML that can be read anywhere, and plain text.

The HTML needs no script: a `<details>` for each step, with what it changed in words, and images
that contain their SVG. It stays readable in a notebook that is not trusted, where scripts and
styles are taken away. Where scripts run, the player's script, which comes last, turns it into the
player. Everything of the user's is escaped.

Repeated content is stored once: pictures are in a pack (see `packing`), and words say what each
step changed. As many pictures as PAGE_LIMIT allows are images, too, for readers without scripts.

Both forms together take less than NOTEBOOK_LIMIT in the file of a notebook, whatever was stepped; a
sentence says what is left out for that. Sizes are measured first, then a `RenderPlan` is made of
them, then the form is rendered once.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from html import escape

from ..doc import Box, Paragraph, html_element, protect_marks
from ..run import SourceText
from ..ui import panel_style_sheet, read_web_files
from ..wording import gettext
from .frames import Frame, StepPicture
from .groups import FrameOrGroup, Group
from .other_copies import Pills
from .packing import Pack
from .static_parts import (
    PICTURE_TITLES,
    PictureKey,
    RenderPlan,
    StepPart,
    describe_words_left_out,
    image_of_picture,
    make_listings,
    make_part,
    words_of_picture,
)

NOTEBOOK_LIMIT = 2_000_000
"""Bytes that both forms of a step-through may take in a notebook."""

PAGE_LIMIT = 149_000
"""Bytes of the HTML up to which pictures are images. A page above it has its pictures in the pack
alone. A program of seven lines has those of its first three steps: a picture with a box for each
storage takes more than one without."""

OTHERS_LIMIT = 40_000
"""Characters that the runs with other copies may take in the pack.

One takes 3 to 13 kB, and all five of a copy 25 to 40 kB in the lessons. Each 10 kB are two images
less for readers without scripts.
"""

WORDS_LIMIT = 200_000
"""Bytes of NOTEBOOK_LIMIT for the changes of pictures in words, once in the HTML and once in the
text."""

STEPS_LIMIT = 800_000
"""Bytes of NOTEBOOK_LIMIT for all steps without pictures. Beyond it only the first steps are
shown."""

MAX_NAMES = 40
"""Maximum number of names of a step whose tensors the code shows in their hues."""

SCRIPTS = (
    "ui/seen.js",
    "player/picture.js",
    "player/stops.js",
    "player/pills.js",
    "player/player.js",
)
SHEETS = ("player/player.css",)

# Numbers of pictures in the pack below it are steps of the page's own run, see `STORED_STEPS`.
_FIRST_OF_OTHERS = 1000
# The last kind is left out first. Of many tensors, the graph is the harder one to read.
_DISPENSABLE_KINDS = ("memory text", "graph text", "memory svg", "graph svg")
# About the bytes that a step or group takes in the file beside its words.
_MARKUP_OF_PART = 200
_SIZE_OF_SVG = re.compile(r' viewBox="0 0 (\d+) (\d+)"')


def content_policy() -> str:
    """Return the Content-Security-Policy of a page with a player alone: only its script may run."""
    # By its digest: a script that was put into the page afterwards is another one, and does not
    # run.
    digest = base64.b64encode(sha256(read_web_files(*SCRIPTS).encode()).digest()).decode()
    rules = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
    return f"{rules}; script-src 'sha256-{digest}'"


def stored_size(text: str) -> int:
    """Return the bytes of a text in the file of a notebook, where each line is a JSON string."""
    # Seven spaces, two quotes, a comma and a line break for each.
    return len(json.dumps(text, ensure_ascii=False).encode()) + 11 * text.count("\n")


@dataclass(frozen=True)
class _OtherForm:
    """The form of a run with another copy, as a page stores it.

    number: see `list_single_exchanges`. html: without its pictures. pictures: those that no form
    before it has, by their kind and number in the pack. same: those that the page's own run has.
    """

    number: int
    html: str
    pictures: dict[PictureKey, StepPicture]
    same: frozenset[PictureKey]


@dataclass
class StaticForm:
    """The static form of a run: code, parts, a summary of half a sentence, and how it ended."""

    texts: tuple[SourceText, ...]
    parts: Sequence[FrameOrGroup]
    summary: str
    end: str
    cut: bool = False
    """True if the run, or what is shown of it, was cut short: the reader is told from the start."""
    pills: Pills | None = None
    """What of the program can be exchanged; None for one that works with what is the user's."""
    folds_rounds: bool = False
    """True if the player goes through loops round by round at first."""
    whole: StaticForm | None = None
    """The same run with all that there is to say, if this form says less."""

    def render_form(self, *, images: bool = True) -> str:
        """Return the static form without style and script, which is what the live form carries.

        images: whether pictures are images as far as PAGE_LIMIT allows. All others are in the pack.
            Without images it is the live form: its kernel makes the runs with other copies, which
            are otherwise stored as far as OTHERS_LIMIT allows.
        """
        plan = RenderPlan(
            words=self._fit_words(WORDS_LIMIT), names=_list_tensors_by_step(self._all_frames)
        )
        steps = self._make_tree(plan).html()
        whole = self._fold_whole()
        fixed = (steps, whole, read_web_files(*SCRIPTS), panel_style_sheet(*SHEETS))
        # Of all that is in the page however few pictures are: what is left is room for these.
        size = sum(map(stored_size, fixed))
        pack_limit = self._limit_of_pack(size)
        others = self._fit_others(PAGE_LIMIT - size) if images else []
        # First with every picture, to know how large it is; then without those that become images.
        pack = self._make_pack(others=others).to_json(pack_limit, _DISPENSABLE_KINDS)
        # What is an image need not be in the pack: both are made anew for those.
        if images and (drawn := self._fit_images(PAGE_LIMIT - size - stored_size(pack))):
            steps = self._make_tree(replace(plan, images=drawn)).html()
            packed = self._make_pack(without=drawn, others=others)
            pack = packed.to_json(pack_limit, _DISPENSABLE_KINDS)
        script = f'<script type="application/json">{pack}</script>'
        # A live player asks its kernel for other runs, and needs no stored ones.
        pills = self.pills.to_json(is_live=not images) if self.pills else None
        return self._wrap_form(steps + whole + script, pills)

    def _wrap_form(self, inside: str, pills: str | None) -> str:
        return html_element(
            "div",
            inside,
            class_="copylab-steps",
            aria_label=self.summary,
            data_pills=pills,
            data_ways=self._choose_first_ways(),
            **self._largest_sizes(),
        )

    def _choose_first_ways(self) -> str | None:
        """Return how the player goes through each loop at first; None if it is line by line."""
        loops = [
            part
            for part in _walk_parts(self.parts)
            if self.folds_rounds and isinstance(part, Group) and part.kind == "loop"
        ]
        # By the keys of `listChoices` in stops.js. A loop that ran several times is one choice.
        keys = dict.fromkeys(f"loop {loop.code} {loop.line}" for loop in loops)
        return json.dumps([[key, "rounds"] for key in keys]) if keys else None

    def _fold_whole(self) -> str:
        """Return a fold with the form that says all; empty where there is none, or no room."""
        form = "" if self.whole is None else self.whole.render_form(images=False)
        # Of a long run, the page itself needs the room.
        if not form or stored_size(form) > NOTEBOOK_LIMIT // 4:
            return ""
        summary = html_element("summary", escape(gettext("show everything")))
        return html_element("details", summary + form, class_="cl-everything")

    def _limit_of_pack(self, size_of_page: int) -> int:
        """Return the characters of the pack for which there is room beside the page and the text.

        A character may take more than a byte in the notebook (a quote is escaped): 4 % are left for
        that.
        """
        text = stored_size(self._make_tree(RenderPlan()).text())
        return (NOTEBOOK_LIMIT - WORDS_LIMIT - size_of_page - text) * 24 // 25

    def render_page(self) -> str:
        """Return the static form with the script that turns it into the player."""
        form = self.render_form().removesuffix("</div>")
        style = html_element("style", panel_style_sheet(*SHEETS))
        script = html_element("script", read_web_files(*SCRIPTS), type="module")
        return f"{form}{style}{script}</div>"

    def full_text(self) -> str:
        """Return all as text: the code, then each step with changes, outputs, pictures in words."""
        return self._make_tree(
            RenderPlan(words=frozenset(self._new_pictures), says_unchanged=True)
        ).text()

    def brief_text(self, room: int) -> str:
        """Return the step-through as text, of each picture only what the step changed in it.

        room: bytes of a notebook. If the text takes more, pictures that no longer fit are left out,
            and it says so.
        """
        everything = self._make_tree(RenderPlan(words=frozenset(self._new_pictures))).text()
        if stored_size(everything) <= room:
            return everything
        # 500 bytes for the sentence on what was left out.
        room -= 500 + stored_size(self._make_tree(RenderPlan()).text())
        fitting: set[PictureKey] = set()
        for key in self._new_pictures:
            words = words_of_picture(key.kind, self._all_frames[key.number - 1])
            cost = stored_size(words) - stored_size(describe_words_left_out(key.kind))
            # As in `_fit_words`: the short ones behind a long one still have room.
            if cost <= max(room, 0):
                fitting.add(key)
                room -= cost
        text = self._make_tree(RenderPlan(words=frozenset(fitting))).text()
        return text + (" " if self.end else "\n\n") + self._count_left_out(fitting)

    def _count_left_out(self, fitting: set[PictureKey]) -> str:
        left_out = [key.kind for key in self._new_pictures if key not in fitting]
        return gettext(
            "To keep what a notebook stores below 2 MB, pictures in words were left out: "
            "{memory} of memory and {graph} of graph. With s = steps(...), print(s.text) "
            "shows all of it.",
            **{kind: f"{left_out.count(kind):,}" for kind in PICTURE_TITLES},
        )

    def count_fitting_steps(self) -> int:
        """Return how many steps, from the first, STEPS_LIMIT has room for."""
        room, count = STEPS_LIMIT, 0
        for part in _walk_parts(self.parts):
            if isinstance(part, Group):
                words = "".join(map(escape, part.changes))
            else:
                # Of pictures there may be fewer, of steps not: a player with gaps would not be a
                # run.
                words = StepPart(part, RenderPlan(has_pictures=False)).html()
            # Rooms are estimated: to render the form of thousands of steps would take longer than
            # their run.
            room -= _MARKUP_OF_PART + stored_size(words)
            if isinstance(part, Frame) and room >= 0:
                count += 1
        return count

    @cached_property
    def _all_frames(self) -> tuple[Frame, ...]:
        return tuple(part for part in _walk_parts(self.parts) if isinstance(part, Frame))

    @cached_property
    def _new_pictures(self) -> dict[PictureKey, StepPicture]:
        """Each picture that is not the same as an earlier one, in the order of the steps."""
        pictures: dict[PictureKey, StepPicture] = {}
        for frame in self._all_frames:
            for kind, picture in frame.pictures.items():
                if picture.step == frame.number:
                    pictures[PictureKey(kind, frame.number)] = picture
        return pictures

    def _largest_sizes(self) -> dict[str, str]:
        """Return the size of the largest picture of each kind, as attributes of the page.

        The player reserves that room, so that nothing moves from step to step.
        """
        sizes: dict[str, tuple[int, int]] = {}
        for key, picture in self._new_pictures.items():
            if size := _SIZE_OF_SVG.search(picture.svg):
                width, height = sizes.get(key.kind, (0, 0))
                sizes[key.kind] = max(width, int(size[1])), max(height, int(size[2]))
        return {f"data_{kind}": f"{width} {height}" for kind, (width, height) in sizes.items()}

    def _fit_words(self, room: int) -> frozenset[PictureKey]:
        """Return the pictures whose changes in words together fit into `room` bytes."""
        fitting: set[PictureKey] = set()
        for key in self._new_pictures:
            changes = self._all_frames[key.number - 1].picture_changes.get(key.kind, ())
            cost = stored_size("\n".join(changes))
            # A long one is left out, and not the short ones after it.
            if cost <= room:
                fitting.add(key)
                room -= cost
        return frozenset(fitting)

    def _fit_images(self, room: int) -> frozenset[PictureKey]:
        """Return the first pictures that as images together take no more bytes than `room`.

        The first ones without gaps: a reader without scripts has pictures of the beginning, then
        words.
        """
        fitting: set[PictureKey] = set()
        for key, picture in self._new_pictures.items():
            room -= stored_size(image_of_picture(key, picture))
            if room < 0:
                break
            fitting.add(key)
        return frozenset(fitting)

    def _make_pack(
        self,
        *,
        without: frozenset[PictureKey] = frozenset(),
        others: Sequence[_OtherForm] = (),
    ) -> Pack:
        """Pack the pictures for the player: all in words, and as SVG those that are no images.

        others: the runs with other copies; a picture that they have, too, is in the pack.
        """
        pack = Pack()
        # A group has its picture from the pack, also where that of a step looks the same.
        used = set(self._pictures_of_groups).union(*(other.same for other in others))
        for key, picture in self._new_pictures.items():
            # One that could not be drawn is a sentence in the page, see `_html_of_undrawn`.
            if not picture.svg:
                continue
            pack.add(f"{key.kind} text", key.number, picture.text)
            if key not in without or key in used:
                pack.add(f"{key.kind} svg", key.number, picture.svg)
        for key, picture in sorted(self._pictures_of_groups.items()):
            if key not in self._new_pictures:
                pack.add("memory text", key.number, picture.text)
                pack.add("memory svg", key.number, picture.svg)
        for other in sorted(others, key=lambda other: other.number):
            pack.add("form", other.number, other.html)
            for key, picture in other.pictures.items():
                pack.add(f"{key.kind} text", key.number, picture.text)
                pack.add(f"{key.kind} svg", key.number, picture.svg)
        return pack

    def _fit_others(self, room: int) -> list[_OtherForm]:
        """Return the runs with other copies that together take no more than OTHERS_LIMIT.

        room: characters that are left of the page beside the pack. The first ones without gaps, and
        none is made behind them.
        """
        size = 0
        others: list[_OtherForm] = []
        for other in self._make_others():
            # Most programs have no copy.
            size = size or len(self._make_pack().to_json(NOTEBOOK_LIMIT))
            more = [*others, other]
            taken = len(self._make_pack(others=more).to_json(NOTEBOOK_LIMIT)) - size
            if taken > min(OTHERS_LIMIT, room - size):
                break
            others = more
        return others

    def _make_others(self) -> Iterator[_OtherForm]:
        """Yield the runs with other copies, each with the pictures that none before it has."""
        # By what it shows: two runs have most pictures in common, and each is stored once.
        numbers = {
            (picture.svg, picture.text): key.number
            for key, picture in self._packed_pictures.items()
            if picture.svg
        }
        for number, form in self.pills.make_stored() if self.pills else ():
            pictures: dict[PictureKey, StepPicture] = {}
            same: set[PictureKey] = set()
            packed: dict[PictureKey, int] = {}
            for key, picture in form._packed_pictures.items():
                # So numbers of different runs never meet, and tell of which run they are.
                own_number = _FIRST_OF_OTHERS * (number + 1) + key.number
                content = picture.svg, picture.text
                packed[key] = numbers.setdefault(content, own_number)
                if packed[key] == own_number:
                    pictures[PictureKey(key.kind, own_number)] = picture
                elif packed[key] < _FIRST_OF_OTHERS:
                    same.add(PictureKey(key.kind, packed[key]))
            # Its words are in the pack: without scripts nobody sees this form.
            plan = RenderPlan(names=_list_tensors_by_step(form._all_frames), packed=packed)
            changes = form.pills.changes_to_json() if form.pills else None
            html = form._wrap_form(form._make_tree(plan).html(), changes)
            yield _OtherForm(number, html, pictures, frozenset(same))

    @cached_property
    def _packed_pictures(self) -> dict[PictureKey, StepPicture]:
        """The pictures of steps and of groups, by kind and number."""
        # One of a group that looks like that of a step has its number.
        return dict(sorted((self._pictures_of_groups | self._new_pictures).items()))

    @cached_property
    def _pictures_of_groups(self) -> dict[PictureKey, StepPicture]:
        """The memory pictures of groups."""
        groups = [part for part in _walk_parts(self.parts) if isinstance(part, Group)]
        pictures = [group.memory for group in groups if group.memory is not None]
        return {PictureKey("memory", picture.step): picture for picture in pictures}

    def _make_tree(self, plan: RenderPlan) -> Box:
        summary = Paragraph(f"**{protect_marks(self.summary)}**")
        end = Paragraph(protect_marks(self.end), class_="cl-end", data_cut=self.cut)
        return Box(
            Box(summary, *make_listings(self.texts)),
            *(make_part(part, plan, may_be_open=True) for part in self.parts),
            end if self.end else None,
            spaced=True,
        )


def _walk_parts(parts: Iterable[FrameOrGroup]) -> Iterator[FrameOrGroup]:
    for part in parts:
        yield part
        if isinstance(part, Group):
            yield from _walk_parts(part.parts)


def _list_tensors_by_step(frames: Iterable[Frame]) -> dict[int, str]:
    """Return which name is which tensor, `x:T1 y:T2`, of each step where that changed."""
    tensors: dict[int, str] = {}
    before = ""
    for frame in frames:
        observation = frame.step.observation
        pairs = () if observation is None else observation.snapshot.names[:MAX_NAMES]
        # The script looks for names in the code: `net.weight` is none there.
        names = " ".join(f"{name}:{tid}" for name, tid in pairs if name.isidentifier())
        if names != before:
            tensors[frame.number] = before = names
    return tensors
