"""A prediction on a page without a kernel: filled in, committed and judged by the page itself.

The right answers and what speaks against wrong ones travel in the page, encoded so that they are
not in plain sight. The answers that can be foreseen are refuted when the page is made: each choice,
each answer in `wrong`, and of free answers small numbers and what the run had (see
`Question.foresee_refutations`). Against any other answer the page has the facts of the run. A new
program for each misconception that can be found travels along, without its own tables: the script
makes them of those of the prediction.
`web/standalone.js` reads answers by the rules of `answers.py`.
"""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Iterable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..doc import html_element, inline_html
from ..ui import colour_rules, read_web_files
from ..wording import gettext
from .answers import format_answer, has_tolerance, parse_names, translate_choice
from .contradictions import list_denials
from .misconceptions import Misconception
from .question import Question, Refutation, split_facts
from .repetitions import list_repeated_sentences, point_to_earlier_facts
from .retests import find_programs
from .reveal import (
    JudgedRow,
    make_row_table,
    name_retest_button,
    render_button,
    render_result,
)
from .runs import QuizRun
from .view import render_field

if TYPE_CHECKING:
    from .prediction import Prediction

_SHEETS = ("ui/panel.css", "quiz/predict.css")
_SCRIPTS = ("ui/seen.js", "quiz/predict.js", "quiz/standalone.js")


def render_standalone(prediction: Prediction, engine: ModuleType | None = None) -> str:
    """Return a prediction as HTML with its own script; without scripts it is the task.

    The program is run for it, under `engine`, by default as said in `predict`. Raises ValueError
    for a program without an end and for a question that has no answer.
    """
    run = prediction.run(engine)
    if run.is_endless:
        raise ValueError("a program that does not end is not run for a page")
    data = json.dumps(
        _collect_page_data(prediction, run), ensure_ascii=False, separators=(",", ":")
    )
    # No secret, and not in plain sight: who opens the source of the page does not read the answers
    # by accident.
    encoded = base64.b64encode(data.encode()).decode()
    sheet = read_web_files(*_SHEETS)
    place = html_element("div", prediction.html, class_="cl-page", data_prediction=encoded)
    # A module runs once the page is there, and its names stay its own: a page may have several.
    script = html_element("script", read_web_files(*_SCRIPTS), type="module")
    return html_element("style", sheet + colour_rules(".cl-panel", sheet)) + place + script


def _collect_page_data(prediction: Prediction, run: QuizRun) -> dict[str, Any]:
    """Return what the script gets.

    form: the empty form.
    revealed: the result with every row wrong; the script fills in the answers, and marks the rows
        that are right.
    rows: one for each question, see `_collect_row_data`.
    sentences: the sentences of all refutations, each once; rows refer to them by index.
    saidOnce: parts of sentences, each of which the first row that has it says.
    denials: by the name of a misconception the answers that deny it: the index of a row, and those to it.
    allRight: the headline if every row is right.
    committed: the answers that are committed already, by the names of their questions; None if
        none are.
    tested: the name of the misconception that a retest tests, otherwise empty.
    retests: by the name of a misconception a new program that tests it, see `_collect_retest_data`.
    retestButton: the button that asks for it.
    """
    sentences = _SentenceTable()
    tested = prediction.tested_misconception
    pointing_questions = point_to_earlier_facts(prediction.questions, run)
    rows = [_collect_row_data(question, run, sentences) for question in pointing_questions]
    retests = {
        misconception.name: _collect_retest_data(
            prediction.make_stored_retest(misconception, run.engine), run.engine, sentences
        )
        for misconception in _find_testable_misconceptions(prediction, run)
    }
    return {
        "form": _quote_once(prediction.form("cl-0")),
        "revealed": _quote_once(_render_revealed(prediction, run)),
        "rows": rows,
        "sentences": list(sentences.numbers),
        "saidOnce": list(map(inline_html, list_repeated_sentences(prediction.questions, run))),
        "denials": list_denials(prediction.questions, run),
        # A notebook that was saved after the commit is laid out with the answers of then.
        "committed": dict(prediction.answers) if prediction.committed else None,
        "allRight": prediction.describe_all_right(),
        "tested": "" if tested is None else tested.name,
        "retests": retests,
        "retestButton": name_retest_button(),
    }


def _quote_once(html: str) -> str:
    """Return HTML whose attributes have single quotes: in JSON each double one is two characters."""
    # In tags alone: a text may have quotes of its own. In an attribute both kinds are escaped.
    return re.sub(r"<[^<>]*>", lambda tag: tag[0].replace('"', "'"), html)


class _SentenceTable:
    """The sentences of a page, each once, by the number under which rows refer to it."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number_texts(self, texts: Iterable[str]) -> list[int]:
        """Return the numbers of some texts; a new one gets the next."""
        numbers = self.numbers
        # A sentence is in the page once, though the refutations of dozens of foreseen answers have
        # it.
        return [numbers.setdefault(text, len(numbers)) for text in map(inline_html, texts)]


def _render_revealed(prediction: Prediction, run: QuizRun) -> str:
    """Return the result with every row wrong, without sentences."""
    rows = []
    # With a refutation a row counts as wrong.
    nothing = Refutation("", None, "")
    for number, question in enumerate(prediction.questions, 1):
        right = format_answer(question.right_answer(run))
        rows.append(JudgedRow(number, question, "", right, nothing, ("",)))
    buttons = ""
    # A retest is answered once: after that its right answer is on the page.
    if prediction.tested_misconception is None:
        buttons = render_button("retry", gettext("The wrong rows again"))
        buttons += render_button("reset", gettext("Start again"))
    return render_result("", make_row_table(rows), buttons)


def _find_testable_misconceptions(prediction: Prediction, run: QuizRun) -> list[Misconception]:
    """Return the misconceptions that a row can show, and that programs test."""
    tested = prediction.tested_misconception
    by_name = {} if tested is None else {tested.name: tested}
    for question in prediction.questions:
        for refutation in question.foresee_refutations(run).values():
            misconception = refutation.misconception
            if misconception is not None and find_programs(misconception):
                by_name.setdefault(misconception.name, misconception)
    return list(by_name.values())


def _collect_retest_data(
    retest: Prediction, engine: ModuleType, sentences: _SentenceTable
) -> dict[str, Any]:
    """Return what the script needs of a new program.

    title: the line above it. program: its listing. label, field: the question, and what it is answered with.
    right: the right answer as it is shown. row: see `_collect_row_data`. allRight: as in `_collect_page_data`.
    """
    (question,) = retest.questions
    run = retest.run(engine)
    label, field = render_field(question, "cl-0-1")
    return {
        "title": retest.title,
        "program": retest.listing().html(),
        "label": _quote_once(label),
        "field": _quote_once(field),
        "right": translate_choice(format_answer(question.right_answer(run))),
        "row": _collect_row_data(question, run, sentences),
        "allRight": retest.describe_all_right(),
    }


def _collect_row_data(
    question: Question, run: QuizRun, sentences: _SentenceTable
) -> dict[str, Any]:
    """Return what the script needs to judge a row.

    name: of the question.
    right: the right answer.
    refutations: wrong answers, and the indices of the sentences against each of them; then, if a
        misconception is behind them, its name and the indices where it was explained already.
    because: the indices of the reason for the right answer.
    choices: what they are called in the language in use, or True where it calls them the same; only for
        a question with choices.

    For a free answer, without those that would be empty:
    kind: how it is compared, as "names", "text" or "value".
    isDecimal: true if numbers are compared with a tolerance.
    pattern, names: see `Question.is_readable`.
    all: the names that an answer of "all" means; empty where none are asked for.
    facts: the indices of the sentences against an answer that is not in `refutations`.
    format: how to write an answer.
    """
    right = question.right_answer(run)

    row: dict[str, Any] = {
        "name": question.name,
        "refutations": _number_refutations(question, run, sentences),
        "because": sentences.number_texts(question.explain_right(run)),
    }
    if question.bound_choices:
        choices = {choice: translate_choice(choice) for choice in question.bound_choices}
        has_names_of_its_own = any(choice != name for choice, name in choices.items())
        return row | {
            "right": format_answer(right),
            "choices": choices if has_names_of_its_own else True,
        }

    details = _describe_free_answer(question, run, right)
    details["facts"] = sentences.number_texts(split_facts(question.describe_facts(run)))
    return row | {"right": _to_json(right)} | details


def _describe_free_answer(question: Question, run: QuizRun, right: Any) -> dict[str, Any]:
    """Return how a free answer is read, without what would be empty, see `_collect_row_data`."""
    kind, names = "value", set[str]()
    if isinstance(right, frozenset):
        kind = "names"
        # The right ones, too: they need not be variables at the end of the run.
        names = parse_names(list(run.moment().values)) | parse_names(right)
    elif isinstance(right, str):
        kind = "text"
    if question.pattern:
        names = {name.casefold() for name in question.node_names(right, run)}
    details = {
        "kind": kind,
        "isDecimal": has_tolerance(right),
        "pattern": question.pattern,
        "names": sorted(names),
        "all": ", ".join(question.names),
        "format": question.answer_format,
    }
    # A page has dozens of rows, with those of its retests.
    return {key: detail for key, detail in details.items() if detail}


def _number_refutations(
    question: Question, run: QuizRun, sentences: _SentenceTable
) -> list[list[Any]]:
    """Return what speaks against each wrong answer that can be foreseen, see `_collect_row_data`."""
    answers_by_refutation: dict[str, list[str]] = {}
    for answer, refutation in question.foresee_refutations(run).items():
        # Twice: as it is said where the misconception comes first on the page, and where it comes
        # again. Which it is depends on the answers, and is decided by the script.
        against: list[Any] = [sentences.number_texts(refutation.compose_sentences(set()))]
        if refutation.misconception is not None:
            name = refutation.misconception.name
            against += [name, sentences.number_texts(refutation.compose_sentences({name}))]
        # Dozens of numbers are wrong for the same reason.
        answers_by_refutation.setdefault(json.dumps(against), []).append(answer)
    return [[answers, *json.loads(key)] for key, answers in answers_by_refutation.items()]


def _to_json(right: Any) -> Any:
    """Return a right answer as JSON has it."""
    if isinstance(right, frozenset):
        # Sorted: a page that is made again must be the same to the letter.
        return sorted(name.casefold() for name in right)
    if isinstance(right, list | tuple):
        return [_to_json(item) for item in right]
    # JSON has no nan and no inf; the script compares them as texts.
    if isinstance(right, float):
        # The digits that are shown: in those all engines agree, so stored outputs do not change.
        return float(f"{right:.6g}") if math.isfinite(right) else str(right)
    return right
