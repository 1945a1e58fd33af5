"""What comes after the commit: each row right or not, what speaks against it, and the run as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

from tinytorch import viz

from ..ui.markup import inline, plain
from .answers import shown
from .question import Question, Refutation
from .runs import Run
from .tellings import stopped

if TYPE_CHECKING:
    from ..player.steps import Steps


@dataclass(frozen=True)
class Row:
    """One answered question: what was written, what the run says, and what speaks against the answer if it is wrong."""

    question: Question
    given: str
    right: str
    refutation: Refutation | None

    @property
    def is_right(self) -> bool:
        """Whether the answer was right."""
        return self.refutation is None


def judge(questions: Iterable[Question], answers: Iterable[str], run: Run) -> tuple[Row, ...]:
    """Compare answers, as `Question.read` keeps them, with the run."""
    rows = []
    for question, given in zip(questions, answers, strict=True):
        right = question.right(run)
        fits = question.holds(given, right)
        rows.append(Row(question, given, shown(right), None if fits else question.refute(run, given)))
    return tuple(rows)


class Reveal:
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
    def headline(self) -> str:
        """How many rows are right, in a sentence."""
        count = len(self.rows)
        if self.right == count:
            return f"All {count} right." if count > 1 else "Right."
        return f"{self.right} of {count} right. A row that turned out wrong is one you can learn from."

    @cached_property
    def text(self) -> str:
        """Everything in words: the rows, what speaks against the wrong ones, the memory at the end."""
        lines = [self.headline]
        for number, (row, sentences) in enumerate(self._told, 1):
            lines += ["", f"{number}. {row.question.prompt}"]
            if row.refutation is None:
                lines.append(f"   right: {row.right}")
                continue
            lines += [f"   not so: you wrote {row.given}, the run says {row.right}"]
            lines += [f"   {plain(sentence)}" for sentence in sentences]
        memory = self._memory
        lines += ["", *self._ending] if self._ending else []
        return "\n".join([*lines, *(["", "At the end of the run:", memory.text] if memory else [])])

    @cached_property
    def html(self) -> str:
        """The same as HTML that needs no script; the memory is an image."""
        return f"<p><strong>{escape(self.headline)}</strong></p>{self.page(live=False)}"

    def page(self, *, live: bool) -> str:
        """The HTML without its headline; `live`: the picture inline, for a page that sets the colours."""
        head = "".join(f'<th scope="col">{word}</th>' for word in ("Question", "You wrote", "The run says", "Verdict"))
        body = "".join(_row(row, sentences) for row, sentences in self._told)
        memory = self._memory
        picture = ""
        if memory is not None:
            drawn = memory.svg if live else memory._repr_mimebundle_()["text/html"]
            words = f"<details><summary>Memory in words</summary><pre>{escape(memory.text)}</pre></details>"
            picture = f"<p><strong>The memory at the end of the run</strong></p><div>{drawn}</div>{words}"
        ending = "".join(f"<p>{escape(sentence)}</p>" for sentence in self._ending)
        return f"<table class='cl-reveal'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{ending}{picture}"

    @property
    def _ending(self) -> list[str]:
        """What else there is to say of the run: that it was stopped, and what it did besides."""
        return [*([stopped(self._run)] if self._run.endless else []), *self._run.aftermath]

    @cached_property
    def _told(self) -> list[tuple[Row, list[str]]]:
        """Each row with what speaks against it; a misconception that comes again is named and not explained again."""
        met: set[str] = set()
        return [(row, _sentences(row.refutation, met) if row.refutation is not None else []) for row in self.rows]

    @cached_property
    def _memory(self) -> viz.Picture | None:
        snapshot = self._run.snapshot()
        return viz.memory(snapshot) if snapshot.names else None

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"text/plain": self.text, "text/html": self.html}


def _row(row: Row, sentences: Sequence[str]) -> str:
    verdict = "✔ right" if row.is_right else "✖ not so"
    kind = "cl-right" if row.is_right else "cl-wrong"
    made = (
        f'<tr class="{kind}"><th scope="row">{inline(row.question.prompt)}</th><td>{escape(row.given)}</td>'
        f"<td>{escape(row.right)}</td><td class='cl-verdict'>{verdict}</td></tr>"
    )
    if row.refutation is None:
        return made
    told = "".join(f"<p>{inline(sentence)}</p>" for sentence in sentences)
    return f'{made}<tr class="cl-against"><td colspan="4">{told}</td></tr>'


def _sentences(refutation: Refutation, met: set[str]) -> list[str]:
    """What to say against an answer; `met` are the misconceptions that were explained, and gets this one."""
    found = [refutation.facts] if refutation.facts else []
    known = refutation.misconception
    if known is not None and known.name in met:
        return [*found, f"**The same misconception again: {known.name}.**"]
    if known is not None:
        met.add(known.name)
        found.append(f"**A common misconception: {known.name}.** “{known.says}”")
    return [*found, *([refutation.against] if refutation.against else [])]
