"""The parts of a step-through's static form: code, step, group of steps, output, picture.

Each is a part of `doc`: `text()` and `html()` only read it, so both may be called any number of
times. What has to fit into a page is decided before a part is made, and is given to it as a
`RenderPlan`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any, NamedTuple

from tinytorch.viz import StepSentence

from ..code_marks import CodeWords, MarkedItems
from ..doc import (
    Alarm,
    Part,
    escape_lines,
    escape_output,
    html_element,
    indent_text,
    inline_html,
)
from ..run import SourceText, make_printable, truncate_text
from ..wording import gettext, gettext_noop, ngettext
from .frames import Frame, StepPicture, is_end_of_loop
from .groups import FrameOrGroup, Group

CODE_LIMIT = 300_000
"""Bytes of NOTEBOOK_LIMIT that the code may take, estimated from the lengths of its lines."""

OPEN_LIMIT = 12
"""Maximum number of steps of a loop or call that is open from the start."""

PICTURE_TITLES = {"memory": gettext_noop("Memory"), "graph": gettext_noop("Graph")}
_OUTPUT_TITLES = {
    "out": gettext_noop("Output"),
    "err": gettext_noop("Error output"),
    "warning": gettext_noop("Warning"),
    "value": gettext_noop("Value"),
    "cut": gettext_noop("Cut"),
    "raised": gettext_noop("Raised, and caught"),
    "error": gettext_noop("Error"),
}


_ROLES = ("headline", "numbers", "reason", "rest")
"""The roles of a step's sentences in the order in which they are shown; alarms are above them."""
_BEFORE_SEMICOLON = re.compile("(?=; |\uff1b)")
_MAX_UNBROKEN = 32
"""Letters of a pair of numbers that are never broken over two lines; a longer one may be."""


class PictureKey(NamedTuple):
    """A picture of a run: its kind, and the number of the first step that has it."""

    kind: str
    number: int


@dataclass(frozen=True)
class RenderPlan:
    """What of the pictures one form contains."""

    images: frozenset[PictureKey] = frozenset()
    """The pictures that are images in the HTML."""
    words: frozenset[PictureKey] = frozenset()
    """The pictures that are also in words."""
    says_unchanged: bool = False
    """True if the text has all of a picture in words, False for what the step changed in it."""
    has_pictures: bool = True
    """True if the HTML has pictures."""
    names: Mapping[int, str] = field(default_factory=dict)
    """Step number -> which name is which tensor, `x:T1 y:T2`, where that differs from the step
    before."""
    packed: Mapping[PictureKey, int] = field(default_factory=dict)
    """The numbers of pictures in the pack where they are not those of their steps."""


# -- the code ----------------------------------------------------------------------


class CodeListing(Part):
    """The lines of a text with their numbers in the file, under its name if there are several texts.

    limit: maximum number of lines; a last line then says how many more there are.
    """

    def __init__(self, text: SourceText, *, has_title: bool, limit: int) -> None:
        self.name = text.describe(several=has_title)
        self.title = (self.name or gettext("The code")) if has_title else ""
        self.above = text.above
        lines = lines_of_listing(text)
        width = len(str(self.above + len(lines)))
        if missing := len(lines) - limit:
            more = ngettext(
                "... {number} more line, not shown", "... {number} more lines, not shown", missing
            )
            lines = [*lines[:limit], more]
        numbered = enumerate(lines, self.above + 1)
        self.rows = [(f"{number:>{width}}  ", line) for number, line in numbered]

    def text(self) -> str:
        """The lines with their numbers."""
        lines = indent_text("\n".join(f"{number}{line}".rstrip() for number, line in self.rows))
        return f"  {gettext('{what}:', what=self.title)}\n{lines}" if self.title else lines

    def html(self) -> str:
        """A `<pre>` with an element for each line, which the player's script reads."""
        code = "\n".join(
            f"{number}<span class='cl-line'>{escape(line)}</span>" for number, line in self.rows
        )
        listing = html_element(
            "pre",
            code,
            class_="cl-code",
            data_name=self.name or None,
            data_above=self.above or None,
        )
        if not self.title:
            return listing
        return html_element("p", escape(self.title), class_="cl-of") + listing


def lines_of_listing(text: SourceText) -> list[str]:
    """Return the lines of a text as they are shown; at least one."""
    lines = make_printable(text.code).splitlines() or [""]
    # `truncate_text` says behind a line break how much it has cut off, and a line must stay one.
    return [truncate_text(line, 2000).replace("\n", " ") for line in lines]


def make_listings(texts: Sequence[SourceText]) -> list[CodeListing]:
    """Make a listing of each text; together they show as many lines as CODE_LIMIT allows.

    The first line of each text is shown in any case.
    """
    room = CODE_LIMIT
    listings = []
    for text in texts:
        lines = lines_of_listing(text)
        limit = 0
        for line in lines:
            # Both forms have it, and a notebook stores each line as a string of its own.
            room -= 2 * len(line) + 100
            # `0 < limit`: the first line is there whatever it takes, also of the texts that follow.
            if room < 0 < limit:
                room = 0
                break
            limit += 1
        listings.append(CodeListing(text, has_title=len(texts) > 1, limit=limit))
    return listings


# -- steps and groups of steps -----------------------------------------------------


def make_part(part: FrameOrGroup, plan: RenderPlan, *, may_be_open: bool) -> Part:
    """Make the part of a frame or of a group; `may_be_open`: all groups around it are open."""
    if isinstance(part, Frame):
        return StepPart(part, plan)
    return GroupPart(part, plan, may_be_open=may_be_open)


class GroupPart(Part):
    """The steps of a loop, a round or a call under one title."""

    def __init__(self, group: Group, plan: RenderPlan, *, may_be_open: bool) -> None:
        self.group, self.plan = group, plan
        # A short loop may be read at a glance, and a fold in a closed one would be open for nobody.
        self.is_open = may_be_open and group.last - group.first < OPEN_LIMIT
        self.parts = [make_part(part, plan, may_be_open=self.is_open) for part in group.parts]

    def text(self) -> str:
        """The title, then all steps."""
        return "\n\n".join([self.group.summary, *(part.text() for part in self.parts)])

    def html(self) -> str:
        """A `<details>` with what the steps changed together, then all steps."""
        group = self.group
        inside = html_element("summary", escape(group.summary))
        sentences = sort_by_role(group.sentences or (_say_nothing_changed(),))
        inside += _list_changes(sentences, group.code_words)
        if group.memory is not None:
            # For the player, which stops here if it goes round by round: in the pack alone.
            about = {"class_": "cl-of-group", "data_picture": "memory"}
            number = group.memory.step
            packed = self.plan.packed.get(PictureKey("memory", number), number)
            inside += html_element("span", "", **about, data_packed=packed)
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
            open=self.is_open,
        )


class StepPart(Part):
    """One step: what it changed, what it printed, its pictures."""

    def __init__(self, frame: Frame, plan: RenderPlan) -> None:
        self.frame, self.plan = frame, plan
        self.title = gettext("Step {number}, {title}", number=frame.number, title=frame.title)
        self.alarms: list[Alarm] = []
        for alarm in frame.alarms:
            whys = map(_shorten_sentence, alarm.sentences)
            why = MarkedItems(whys, frame.code_words, class_="cl-why")
            details = None
            if alarm.details:
                shortened = map(_shorten_sentence, alarm.details)
                details = MarkedItems(shortened, frame.code_words, class_="cl-more")
            self.alarms.append(Alarm(alarm.title, why, details, severity=alarm.severity))
        sentences = list(frame.sentences)
        # Of a wrong gradient an alarm has it.
        if not frame.has_wrong_gradient:
            sentences += [StepSentence(sentence) for sentence in frame.explanation]
        if not sentences and frame.step.error is None:
            sentences = [
                _say_loop_is_over() if is_end_of_loop(frame.step) else _say_nothing_changed()
            ]
        self.sentences = sort_by_role(sentences)
        self.outputs = [OutputPart(kind, text.rstrip("\n")) for kind, text in frame.step.output]
        if frame.step.error is not None:
            kind = "raised" if frame.step.caught else "error"
            self.outputs.append(OutputPart(kind, frame.step.error))

    def text(self) -> str:
        """The title, then a line or a block for each thing to say."""
        lines = [self.title, *(indent_text(alarm.text()) for alarm in self.alarms)]
        lines += [f"  - {_shorten_sentence(sentence.text)}" for sentence in self.sentences]
        lines += [output.text() for output in self.outputs]
        lines += filter(None, map(self._words_of_picture, self.frame.pictures))
        return "\n".join(lines)

    def _words_of_picture(self, kind: str) -> str:
        words = words_of_picture(kind, self.frame, says_unchanged=self.plan.says_unchanged)
        is_own = self.frame.pictures[kind].step == self.frame.number
        if words and is_own and PictureKey(kind, self.frame.number) not in self.plan.words:
            return describe_words_left_out(kind)
        return words

    def html(self) -> str:
        """A `<details>`; its `data-` attributes are what the player's script reads."""
        frame, site = self.frame, self.frame.step.site
        inside = html_element("summary", escape(self.title))
        inside += "".join(alarm.html() for alarm in self.alarms) + _list_changes(
            self.sentences, frame.code_words
        )
        inside += "".join(output.html() for output in self.outputs)
        if self.plan.has_pictures:
            inside += "".join(_html_of_picture(kind, frame, self.plan) for kind in frame.pictures)
        return html_element(
            "details",
            inside,
            class_="cl-step",
            data_code=frame.code or None,
            data_line=site.line,
            data_end=site.end_line,
            # The player draws these in red, and says first what went wrong.
            data_kind="wrong" if frame.has_wrong_gradient else frame.step.kind,
            data_calls=" ".join(frame.step.calls) or None,
            data_names=self.plan.names.get(frame.number),
            # Without scripts a reader sees how a step looks, and that the others open.
            open=frame.number == 1,
        )


class OutputPart(Part):
    """What a step printed, or the error that it raised."""

    def __init__(self, kind: str, output: str) -> None:
        self.kind, self.title, self.output = kind, gettext(_OUTPUT_TITLES[kind]), output

    def text(self) -> str:
        """The title, and below it the output."""
        return f"  {gettext('{what}:', what=self.title)}\n{_indent_twice(self.output)}"

    def html(self) -> str:
        """A `<div>`; a long output scrolls, and can be reached by key for that.

        An error is seen whole.
        """
        is_long = len(self.output) > 500 or self.output.count("\n") > 9
        scrolls = is_long and self.kind not in ("error", "raised")
        region = {"tabindex": 0, "role": "region", "aria_label": self.title} if scrolls else {}
        inside = html_element("strong", escape(self.title))
        inside += html_element("pre", escape_output(self.output), **region)
        # The class is of the English title, whatever the language: cl-output, cl-error-output.
        name = _OUTPUT_TITLES[self.kind].partition(",")[0].lower().replace(" ", "-")
        return html_element("div", inside, class_=f"cl-out cl-{name}")


def _shorten_sentence(sentence: str) -> str:
    # The line break before "... more characters", see `lines_of_listing`.
    return truncate_text(sentence, 500).replace("\n", " ")


def _say_nothing_changed() -> StepSentence:
    return StepSentence(gettext("No tensor changed."), "headline")


def _say_loop_is_over() -> StepSentence:
    return StepSentence(gettext("The loop is over."), "headline")


def sort_by_role(sentences: Iterable[StepSentence]) -> list[StepSentence]:
    """Return the sentences in the order in which they are read, without those of alarms."""
    with_role = [each for each in sentences if each.role in _ROLES]
    return sorted(with_role, key=lambda each: _ROLES.index(each.role))


def _list_changes(sentences: Iterable[StepSentence], code_words: CodeWords) -> str:
    items = (_html_of_sentence(sentence, code_words) for sentence in sentences)
    return html_element("ul", "".join(items), class_="cl-says")


def _html_of_sentence(sentence: StepSentence, code_words: CodeWords) -> str:
    """Return an `<li>`, whose class the player's script reads.

    Numbers are seen as numbers, and heard as the sentence.
    """
    text = _shorten_sentence(sentence.text)
    if sentence.role == "headline":
        # What comes behind a semicolon is less than news.
        lead, *detail = _BEFORE_SEMICOLON.split(text, maxsplit=1)
        inside = inline_html(code_words.mark_code(lead))
        inside += "".join(
            html_element("span", inline_html(code_words.mark_code(each))) for each in detail
        )
        return html_element("li", inside, class_="cl-lead")
    if sentence.role != "numbers" or sentence.pair is None:
        is_rest = sentence.role == "rest"
        inside = inline_html(code_words.mark_code(text))
        return html_element("li", inside, class_="cl-rest" if is_rest else None)
    name, before, after, marked_name = sentence.pair
    name_html = inline_html(marked_name) if marked_name else html_element("code", escape(name))
    numbers = f"{name_html} {escape(before)} → {html_element('strong', escape(after))}"
    is_long = len(name + before + after) > _MAX_UNBROKEN
    pair = html_element("span", numbers, class_="cl-long" if is_long else "cl-pair")
    return html_element("li", pair, class_="cl-numbers", data_says=text)


def _indent_twice(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


# -- pictures ----------------------------------------------------------------------


def words_of_picture(kind: str, frame: Frame, *, says_unchanged: bool = False) -> str:
    """Return a picture as lines of the text: all of it, or what the step changed.

    Empty if that is nothing.
    """
    picture, title = frame.pictures[kind], gettext(PICTURE_TITLES[kind])
    changed = frame.picture_changes.get(kind, ())
    if not (says_unchanged or changed):
        return ""
    if picture.step != frame.number:
        return "  " + gettext("{title}: as in step {step}", title=title, step=picture.step)
    if says_unchanged:
        return f"  {gettext('{what}:', what=title)}\n{_indent_twice(picture.text)}"
    heading = gettext("{title}, what changed:", title=title)
    lines = _indent_twice("\n".join(changed))
    return f"  {heading}\n{lines}"


def describe_words_left_out(kind: str) -> str:
    """Return the line that stands for a picture in words for which there is no room."""
    return "  " + gettext("{title}: left out, see the end", title=gettext(PICTURE_TITLES[kind]))


def image_of_picture(key: PictureKey, picture: StepPicture) -> str:
    """Return an `<img>` with the SVG in it: it is shown where scripts and styles are taken away."""
    alt = gettext(
        "{title} after step {number}; below is what changed",
        title=gettext(PICTURE_TITLES[key.kind]),
        number=key.number,
    )
    source = base64.b64encode(picture.svg.encode()).decode()
    return html_element("img", alt=alt, src=f"data:image/svg+xml;base64,{source}")


def _html_of_picture(kind: str, frame: Frame, plan: RenderPlan) -> str:
    """Return a picture in the HTML: an image and what changed in words, or a sentence instead."""
    picture, title, number = frame.pictures[kind], gettext(PICTURE_TITLES[kind]), frame.number
    about: dict[str, Any] = {"class_": "cl-picture", "data_picture": kind}
    if picture.step != number:
        same = gettext("{title}: as in step {step}.", title=title, step=picture.step)
        return html_element("p", escape(same), **about, data_as=picture.step)
    if not picture.svg:
        return _html_of_undrawn(picture, title, about)
    key = PictureKey(kind, number)
    about["data_packed"] = plan.packed.get(key, number)
    # The form of a run with other copies: only the script shows it, and takes the words from the
    # pack.
    if plan.packed:
        return html_element("p", **about)
    if key not in plan.words:
        missing = gettext("{title}: not shown here, there are too many pictures.", title=title)
        return html_element("p", escape(missing), **about)
    changed = frame.picture_changes.get(kind, ())
    text = html_element("pre", escape_lines("\n".join(changed))) if changed else ""
    if key in plan.images:
        after = gettext("{title} after step {number}", title=title, number=number)
        caption = html_element("figcaption", escape(after))
        return html_element("figure", caption + image_of_picture(key, picture) + text, **about)
    heading = gettext("{title}, what changed:", title=title) if changed else ""
    return html_element(
        "div", (html_element("p", escape(heading)) if heading else "") + text, **about
    )


def _html_of_undrawn(picture: StepPicture, title: str, about: Mapping[str, Any]) -> str:
    """Return the words of a picture that was not drawn, and why: Graphviz is missing, say."""
    words = gettext("This picture cannot be drawn here: {problem}", problem=picture.problem)
    text = html_element("pre", escape_lines(f"{words}\n\n{picture.text}"))
    return html_element("div", html_element("strong", escape(title)) + text, **about)
