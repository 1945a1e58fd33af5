"""What comes after the commit: each row right or not, what speaks against it, and the run as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch import viz
from tinytorch.viz import gettext, ngettext, summarize_text

from ..doc import (
    Box,
    Cell,
    Code,
    Figure,
    InPage,
    InText,
    Paragraph,
    Part,
    Presentation,
    Table,
    html_element,
    inline_html,
    plain_text,
)
from .answers import label, shown
from .evidence import stopped
from .question import Question, Refutation
from .runs import Run

if TYPE_CHECKING:
    from ..player import Steps


class UnreadError(ValueError):
    """An answer that cannot be read, so it is neither right nor wrong: it is asked again."""


@dataclass(frozen=True)
class Row:
    """One answered question: what was written, what the run says, and what speaks against the answer if it is wrong.

    against: the sentences of that; a misconception that comes again is named and not explained again.
    """

    number: int
    question: Question
    given: str
    right: str
    refutation: Refutation | None
    against: Sequence[str]

    def __repr__(self) -> str:
        return summarize_text(f"Row({self.number}, {self.given!r}, right: {self.right!r})")

    @property
    def is_right(self) -> bool:
        """Whether the answer was right."""
        return self.refutation is None

    def told(self) -> str:
        """The row in words: the question with its number, how it went, and what speaks against the answer."""
        given, right = label(self.given), label(self.right)
        verdict = gettext(
            "not so: you wrote {given}, the run says {right}", given=given, right=right
        )
        said = (
            [gettext("right: {answer}", answer=right)]
            if self.is_right
            else map(plain_text, (verdict, *self.against))
        )
        return "\n   ".join([f"{self.number}. {self.question.asks}", *said])

    def cells(self) -> list[list[Cell]]:
        """The row in a table; below it, over all columns, what speaks against the answer."""
        kind = "cl-right" if self.is_right else "cl-wrong"
        verdict = gettext("✔ right") if self.is_right else gettext("✖ not so")
        row = [
            Cell(str(self.number), class_=f"{kind} cl-number"),
            Cell(self.question.asks, head=True, class_=kind),
            Cell(label(self.given), class_=kind, data_label=gettext("You wrote")),
            Cell(label(self.right), class_=kind, data_label=gettext("The run says")),
            Cell(verdict, class_=f"{kind} cl-verdict"),
        ]
        below = Box(*map(Paragraph, self.against))
        return (
            [row]
            if self.is_right
            else [row, [Cell("", part=below, class_="cl-against", colspan=len(row))]]
        )


def headline(right: int, count: int) -> str:
    """How many rows are right, in a sentence."""
    if right == count:
        return ngettext("Right.", "All {number} right.", count)
    return gettext(
        "{right} of {count} right. A row that turned out wrong is one you can learn from.",
        right=right,
        count=count,
    )


def table(rows: Iterable[Row]) -> Table:
    """The rows, and below each wrong one what speaks against it."""
    head = (
        "",
        gettext("Question"),
        gettext("You wrote"),
        gettext("The run says"),
        gettext("Verdict"),
    )
    return Table(head, [line for row in rows for line in row.cells()], class_="cl-reveal")


def result(said: str, found: Part, **buttons: str) -> str:
    """What the run says below its headline, and buttons for what can be done then, as HTML."""
    headline = html_element("p", inline_html(said), class_="cl-headline", tabindex=-1)
    bar = "".join(
        html_element("button", words, type="button", data_do=do) for do, words in buttons.items()
    )
    return html_element(
        "div",
        headline + found.html() + html_element("div", bar, class_="cl-bar"),
        role="group",
        aria_label=said,
    )


def judge(questions: Iterable[Question], answers: Iterable[str], run: Run) -> tuple[Row, ...]:
    """Compare answers, as `Question.read` keeps them, with the run. UnreadError for what cannot be an answer."""
    asked = [
        (question, given, question.right(run))
        for question, given in zip(questions, answers, strict=True)
    ]
    for number, (question, given, right) in enumerate(asked, 1):
        if not question.understands(given, right, run):
            said = gettext(
                "Row {number}: “{given}” cannot be read. Write it as {takes}.",
                number=number,
                given=given,
                takes=question.takes,
            )
            raise UnreadError(said)
    rows, met = [], set[str]()
    for number, (question, given, right) in enumerate(asked, 1):
        refutation = None if question.holds(given, right) else question.refute(run, given)
        against = [] if refutation is None else refutation.sentences(met)
        rows.append(Row(number, question, given, shown(right), refutation, against))
    return tuple(rows)


class Reveal(Presentation):
    """A prediction compared with the run.

    `.rows` (each with `.is_right`, `.given`, `.right`, `.refutation`), `.text`, `.html`, `.steps` (the player).
    """

    def __init__(self, rows: Sequence[Row], run: Run) -> None:
        self.rows = tuple(rows)
        self._run = run

    def __repr__(self) -> str:
        return f"Reveal({self.right} of {len(self.rows)} right)"

    def __str__(self) -> str:
        return self.text

    @property
    def right(self) -> int:
        """How many rows are right."""
        return sum(row.is_right for row in self.rows)

    @property
    def steps(self) -> Steps:
        """The run, to step through."""
        return self._run.steps

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """The names of the misconceptions behind the wrong rows, each once."""
        known = (row.refutation.misconception for row in self.rows if row.refutation is not None)
        return tuple(dict.fromkeys(one.name for one in known if one is not None))

    @property
    def avoided(self) -> set[str]:
        """The names of the misconceptions that a right row could have shown, and no row did."""
        foreseen = (row.question.beliefs(self._run) for row in self.rows if row.is_right)
        return set().union(*foreseen) - set(self.misconceptions)

    @property
    def headline(self) -> str:
        """How many rows are right, in a sentence."""
        return headline(self.right, len(self.rows))

    def tree(self) -> Part:
        """The rows, what speaks against the wrong ones, the memory at the end."""
        return Box(Paragraph(f"**{self.headline}**"), self.found(live=False), apart=True)

    def found(self, *, live: bool) -> Part:
        """What stands below the headline; `live`: in a page that sets the colours of pictures."""
        snapshot = self._run.snapshot()
        picture = Figure(viz.memory(snapshot), gettext("Memory at the end of the run"), live=live)
        ending = [*([stopped(self._run)] if self._run.endless else []), *self._run.trace.effects]
        return Box(
            InText(Code("\n\n".join(row.told() for row in self.rows), by="")),
            InPage(table(self.rows)),
            Box(*map(Paragraph, ending)) if ending else None,
            Box(InText(Paragraph(gettext("At the end of the run:"))), picture)
            if snapshot.names
            else None,
            apart=True,
        )
