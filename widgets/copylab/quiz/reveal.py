"""The result after the commit: each row, what speaks against a wrong one, and pictures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from tinytorch import viz
from tinytorch.viz import summarize_text

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
from ..player import Steps, find_origins_at_end
from ..wording import current_language, gettext, gettext_noop, join_sentences, ngettext
from .answers import (
    format_answer,
    has_decimal_comma,
    is_one_of_several,
    lacks_decimals,
    translate_choice,
)
from .contradictions import describe_contradiction, is_denied
from .evidence import describe_limit
from .misconceptions import Misconception
from .question import Question, Refutation, split_facts
from .repetitions import point_to_earlier_facts, say_wrong_gradients_once
from .retests import find_programs
from .runs import QuizRun


class UnreadableAnswerError(ValueError):
    """An answer that cannot be read, so it is neither right nor wrong: it is asked for again."""


@dataclass(frozen=True)
class JudgedRow:
    """One answered question: the answer, the right one, and what speaks against a wrong one.

    sentences: those of the refutation; a misconception that comes again is named and not explained
        again. Of a right answer the reason, see `Question.explain_right`.
    misconception_to_retest: the one that a new program can test now; of a right answer to a retest,
        the one that takes another program.
    """

    number: int
    question: Question
    given: str
    right: str
    refutation: Refutation | None
    sentences: Sequence[str]
    misconception_to_retest: Misconception | None = None

    def __repr__(self) -> str:
        return summarize_text(f"JudgedRow({self.number}, {self.given!r}, right: {self.right!r})")

    @property
    def is_right(self) -> bool:
        """True if the answer was right."""
        return self.refutation is None

    @property
    def text(self) -> str:
        """The question with its number, the verdict, and what speaks against the answer."""
        answer, right = translate_choice(self.given), translate_choice(self.right)
        lines = [f"{self.number}. {self.question.text}"]
        if self.is_right:
            verdict = gettext("right: {answer}", answer=right)
        else:
            verdict = gettext(
                "not so: you wrote {given}, the run says {right}", given=answer, right=right
            )
        lines += map(plain_text, (verdict, *self.sentences))
        return "\n   ".join(lines)

    def table_rows(self, *, live: bool = False) -> list[list[Cell]]:
        """Return the row of a table, and one with the reason or what speaks against the answer.

        live: with the button that asks for a new program.
        """
        kind = "cl-right" if self.is_right else "cl-wrong"
        verdict = gettext("✔ right") if self.is_right else gettext("✖ not so")
        given, right = translate_choice(self.given), translate_choice(self.right)
        row = [
            Cell(str(self.number), class_=f"{kind} cl-number"),
            Cell(self.question.text, head=True, class_=kind),
            Cell(given, class_=kind, data_label=gettext("You wrote")),
            Cell(right, class_=kind, data_label=gettext("The run says")),
            Cell(verdict, class_=f"{kind} cl-verdict"),
        ]
        # Where nothing but the facts speaks against a wrong answer, the right one says all.
        if self.is_right and not self.sentences and self.misconception_to_retest is None:
            return [row]
        # A row of its own over all columns: in a cell the sentences would be a narrow column.
        below = Box(
            *map(Paragraph, self.sentences),
            InPage(render_button("retest", name_retest_button(), self.misconception_to_retest.name))
            if live and self.misconception_to_retest is not None
            else None,
        )
        class_ = "cl-because" if self.is_right else "cl-against"
        return [row, [Cell("", part=below, class_=class_, colspan=len(row))]]


def name_retest_button() -> str:
    """Return the text of the button below a wrong row."""
    return gettext("Try it on a new program")


def describe_score(right: int, count: int) -> str:
    """Say in a sentence how many rows are right."""
    if right == count:
        return ngettext("Right.", "All {number} right.", count)
    return gettext("{right} of {count} right.", right=right, count=count)


def make_row_table(rows: Iterable[JudgedRow], *, live: bool = False) -> Table:
    """Return a table of judged rows; `live` as in `JudgedRow.table_rows`."""
    head = (
        "",
        gettext("Question"),
        gettext("You wrote"),
        gettext("The run says"),
        gettext("Verdict"),
    )
    table_rows = []
    for row in rows:
        table_rows += row.table_rows(live=live)
    return Table(head, table_rows, class_="cl-reveal")


def render_button(action: str, text: str, misconception_name: str = "") -> str:
    """Return the HTML of a button, with the name of the misconception that it is about, if any."""
    about = {"data_misconception": misconception_name} if misconception_name else {}
    return html_element("button", escape(text), type="button", data_do=action, **about)


def render_result(headline: str, content: Part, buttons: str) -> str:
    """Return the HTML of a headline, of what is below it, and of a bar with buttons."""
    # tabindex -1: the script moves the focus to the headline after the commit.
    above = html_element("p", inline_html(headline), class_="cl-headline", tabindex=-1)
    return html_element(
        "div",
        above + content.html() + html_element("div", buttons, class_="cl-bar"),
        role="group",
        aria_label=headline,
    )


def judge_answers(
    questions: Sequence[Question],
    answers: Sequence[str],
    run: QuizRun,
    tested_misconception: Misconception | None = None,
    *,
    needs_another: bool = False,
) -> tuple[JudgedRow, ...]:
    """Compare answers, as `Question.normalize_answer` returns them, with the run.

    tested_misconception: the one that the questions test, if they are those of a retest.
    needs_another: another program has to be answered, although this one was answered rightly.

    Raises UnreadableAnswerError before any is judged: nothing of the run is shown until all can be
    read.
    """
    right_answers = [question.right_answer(run) for question in questions]
    # copies, whose facts may be "Row 1 says why."; what is right is asked of the questions themselves
    pointing_questions = point_to_earlier_facts(questions, run)
    # All before any: who is told to write row 3 in another way must not see what became of row 1.
    _require_readable_answers(questions, answers, run)
    rows: list[JudgedRow] = []
    explained_names: set[str] = set()
    answered_questions = zip(pointing_questions, answers, right_answers, strict=True)
    for number, (question, answer, right) in enumerate(answered_questions, 1):
        row = JudgedRow(number, question, answer, format_answer(right), None, ())
        if question.is_right(answer, right):
            to_retest = tested_misconception if needs_another else None
            sentences = [*_name_in_full(answer, right), *question.explain_right(run)]
            rows.append(replace(row, sentences=sentences, misconception_to_retest=to_retest))
        else:
            refutation = question.refute(run, answer)
            name = "" if refutation.misconception is None else refutation.misconception.name
            if name and is_denied(questions, answers, run, number - 1, name):
                rows.append(_argue_alone(row, refutation, explained_names))
            else:
                rows.append(_refute_row(row, refutation, explained_names, tested_misconception))
    # Known only now: which of the rows are shown with the sentence depends on the answers.
    once = say_wrong_gradients_once(questions, [row.sentences for row in rows], run)
    return tuple(
        replace(row, sentences=sentences) for row, sentences in zip(rows, once, strict=True)
    )


def _name_in_full(answer: str, right: Any) -> list[str]:
    """Say what a node's name lacks in an answer that counts as right without it; nothing where it is whole."""
    is_numbered_node = isinstance(right, str) and right.endswith("Backward0")
    if not is_numbered_node or right.casefold() in answer.casefold():
        return []
    return [gettext("The name ends in a number: `{node}`.", node=right)]


def _refute_row(
    row: JudgedRow,
    refutation: Refutation,
    explained_names: set[str],
    tested_misconception: Misconception | None,
) -> JudgedRow:
    """Return a row with what speaks against its answer; what that explains is added to `explained_names`."""
    # In a retest the one that it tests, also where the wrong answer shows none.
    misconception = refutation.misconception or tested_misconception
    # Once on a page, where it is explained. Asked before `compose_sentences` explains it.
    is_new = misconception is not None and misconception.name not in explained_names
    is_testable = misconception is not None and is_new and find_programs(misconception)
    return replace(
        row,
        refutation=refutation,
        sentences=refutation.compose_sentences(explained_names),
        misconception_to_retest=misconception if is_testable else None,
    )


def _argue_alone(row: JudgedRow, refutation: Refutation, explained_names: set[str]) -> JudgedRow:
    """Return a row with the facts and the argument, without a belief that another answer denies.

    It is not noted as met. A new program tests whether it is there all the same.
    """
    misconception = refutation.misconception
    sentences = split_facts(refutation.facts)
    to_retest = None
    if misconception is not None and misconception.name not in explained_names:
        explained_names.add(misconception.name)
        sentences.append(refutation.argument)
        to_retest = misconception if find_programs(misconception) else None
    return replace(
        row,
        refutation=replace(refutation, misconception=None),
        sentences=sentences,
        misconception_to_retest=to_retest,
    )


def _require_readable_answers(
    questions: Sequence[Question], answers: Sequence[str], run: QuizRun
) -> None:
    """Raise UnreadableAnswerError if some answers cannot be read, with how to write each of them."""
    names = [question.name for question in questions]
    unreadable = find_unreadable_answers(questions, dict(zip(names, answers, strict=True)), run)
    if unreadable:
        raise UnreadableAnswerError(join_sentences(unreadable.values()))


def find_unreadable_answers(
    questions: Sequence[Question], answers: Mapping[str, str], run: QuizRun
) -> dict[str, str]:
    """Return how to write each answer that cannot be read; rows without an answer are passed over.

    answers, and what is returned: by the name of the question.
    """
    unreadable = {}
    for number, question in enumerate(questions, 1):
        given = answers.get(question.name, "")
        if question.choices is not None or not given.strip():
            continue
        answer, right = question.normalize_answer(given), question.right_answer(run)
        if not question.is_readable(answer, right, run):
            unreadable[question.name] = _ask_again(number, question, answer, right)
    return unreadable


def _ask_again(number: int, question: Question, answer: str, right: Any) -> str:
    """Say why an answer is neither right nor wrong, and how to write it."""
    sentence = gettext_noop("Row {number}: “{given}” cannot be read. Write it as {takes}.")
    if is_one_of_several(answer, right):
        sentence = gettext_noop(
            "Row {number}: “{given}” is one number, and there are several. Write all, in their shape."
        )
    elif has_decimal_comma(answer, right):
        sentence = gettext_noop(
            "Row {number}: “{given}” is two numbers, and there is one. A decimal has a point."
        )
    elif lacks_decimals(answer, right):
        sentence = gettext_noop("Row {number}: “{given}” has too few decimals. Write two at least.")
    return gettext(sentence, number=number, given=answer, takes=question.answer_format)


class Reveal(Presentation):
    """A prediction compared with the run.

    `.rows` (each with `.is_right`, `.given`, `.right`, `.refutation`), `.text`, `.html`, `.steps`
    (the player).
    """

    def __init__(
        self,
        questions: Sequence[Question],
        answers: Sequence[str],
        run: QuizRun,
        describe_all_right: Callable[[], str],
        tested_misconception: Misconception | None = None,
        *,
        needs_another: bool = False,
    ) -> None:
        self._questions, self._answers, self._run = questions, answers, run
        self._needs_another = needs_another
        self._describe_all_right = describe_all_right
        self._tested_misconception = tested_misconception
        # Raises UnreadableAnswerError for what cannot be read.
        rows = self._judge()
        self._rows_by_language = {current_language(): rows}
        self.right = sum(row.is_right for row in rows)
        """The number of rows that are right."""

    def __repr__(self) -> str:
        return f"Reveal({self.right} of {len(self.rows)} right)"

    @property
    def rows(self) -> tuple[JudgedRow, ...]:
        """The answers with what the run says to each, in the order of the questions."""
        language = current_language()
        # Their sentences are in the language of when they were made.
        if language not in self._rows_by_language:
            self._rows_by_language[language] = self._judge()
        return self._rows_by_language[language]

    def _judge(self) -> tuple[JudgedRow, ...]:
        return judge_answers(
            self._questions,
            self._answers,
            self._run,
            self._tested_misconception,
            needs_another=self._needs_another,
        )

    @property
    def steps(self) -> Steps:
        """The run, to step through."""
        return self._run.player

    @property
    def misconceptions(self) -> tuple[str, ...]:
        """The names of the misconceptions behind the wrong rows, each once."""
        refutations = [row.refutation for row in self.rows if row.refutation is not None]
        found = [refutation.misconception for refutation in refutations]
        return tuple(dict.fromkeys(each.name for each in found if each is not None))

    @property
    def headline(self) -> str:
        """A sentence that says how many rows are right."""
        if self.right == len(self.rows):
            return self._describe_all_right()
        return describe_score(self.right, len(self.rows))

    def tree(self) -> Part:
        """Return the rows, what speaks against the wrong ones, and the memory at the end."""
        return Box(Paragraph(f"**{self.headline}**"), self.content(live=False), spaced=True)

    def content(self, *, live: bool) -> Part:
        """Return the parts below the headline.

        live: in a page that sets the colours of pictures.
        """
        shown_run, title, lead = self._choose_shown_run()
        snapshot = shown_run.snapshot()
        # In the words of the player beside it: a tensor is "from a ** 2" in both.
        memory = viz.memory_with_origins(
            viz.compare_snapshots(snapshot, None),
            find_origins_at_end(shown_run.trace),
            level=self._run.level,
        )
        picture = Figure(memory, title, live=live)
        remarks = [describe_limit(self._run)] if self._run.is_endless else []
        remarks += self._run.trace.effects
        has_tensors = bool(snapshot.names)
        contradiction = describe_contradiction(self._questions, self._answers, self._run)
        return Box(
            Paragraph(contradiction) if contradiction else None,
            InText(Code("\n\n".join(row.text for row in self.rows), indent="")),
            InPage(make_row_table(self.rows, live=live)),
            Box(*map(Paragraph, remarks)) if remarks else None,
            Box(InText(Paragraph(lead)), picture) if has_tensors else None,
            self._draw_graph(live=live),
            spaced=True,
        )

    def _choose_shown_run(self) -> tuple[QuizRun, str, str]:
        """Return the run whose memory is shown, the title of the picture, and what leads to it in words.

        Beside verdicts on several programs it says of which it is: the first that was answered wrongly.
        """
        if not any(question.change for question in self._questions):
            at_end = gettext("At the end of the run:")
            return self._run, gettext("Memory at the end of the run"), at_end
        for row in self.rows:
            change = None if row.is_right else row.question.change
            shown_run = self._run if change is None else change(self._run)
            if shown_run is not self._run:
                title = gettext(
                    "Memory of the program of row {number} at its end", number=row.number
                )
                lead = gettext("At the end of the program of row {number}:", number=row.number)
                return shown_run, title, lead
            if not row.is_right:
                break
        title = gettext("Memory of the unchanged program at its end")
        return self._run, title, gettext("At the end of the unchanged program:")

    def _draw_graph(self, *, live: bool) -> Figure | None:
        """Return a picture of the graph if a retest asks for its nodes, which no memory shows."""
        is_asked_for = any(question.features.shows_graph for question in self._questions)
        if self._tested_misconception is None or not is_asked_for:
            return None
        graph = viz.graph(self._run.snapshot())
        return Figure(graph, gettext("The graph at the end of the run"), live=live)
