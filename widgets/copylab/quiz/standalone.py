"""A prediction on a page without a kernel: filled in, committed and judged by the page itself.

The right answers and what speaks against wrong ones travel in the page, encoded so that they are
not in plain sight. The answers that can be foreseen are refuted when the page is made: each choice,
each answer in `wrong`, and of free answers small numbers and what the run had (see
`Question.foresee_refutations`). Against any other answer the page has the facts of the run.
`web/standalone.js` reads answers by the rules of `answers.py`.
"""

from __future__ import annotations

import base64
import json
import math
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ..doc import html_element, inline_html
from ..ui import colour_rules, read_web_files
from ..wording import gettext
from .answers import format_answer, parse_names, translate_choice
from .question import Question, Refutation
from .reveal import JudgedRow, count_right_rows, render_result, table_of_rows
from .runs import QuizRun

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
    if run.endless:
        raise ValueError("a program that does not end is not run for a page")
    data = json.dumps(_page_data(prediction, run), ensure_ascii=False, separators=(",", ":"))
    encoded = base64.b64encode(data.encode()).decode()
    sheet = read_web_files(*_SHEETS)
    place = html_element("div", prediction.html, class_="cl-page", data_prediction=encoded)
    script = html_element("script", read_web_files(*_SCRIPTS), type="module")
    return html_element("style", sheet + colour_rules(".cl-panel", sheet)) + place + script


def _page_data(prediction: Prediction, run: QuizRun) -> dict[str, Any]:
    """Return what the script gets.

    form: the empty form.
    revealed: the result with every row wrong; the script fills in the answers, and marks the rows
        that are right.
    rows: one for each question, see `_row_data`.
    sentences: the sentences of all refutations, each once; rows refer to them by index.
    allRight: the headline if every row is right.
    committed: the answers that are committed already, by the names of their questions; None if
        none are.
    """
    sentence_numbers: dict[str, int] = {}
    rows, wrong_rows = [], []
    # With a refutation a row counts as wrong; the script fills in the sentences.
    nothing = Refutation("", None, "")
    for number, question in enumerate(prediction.questions, 1):
        rows.append(_row_data(question, run, sentence_numbers))
        right = format_answer(question.right_answer(run))
        wrong_rows.append(JudgedRow(number, question, "", right, nothing, ()))
    return {
        "form": prediction.form("cl-0"),
        "revealed": render_result(
            "",
            table_of_rows(wrong_rows),
            retry=gettext("The wrong rows again"),
            reset=gettext("Start again"),
        ),
        "rows": rows,
        "sentences": list(sentence_numbers),
        "allRight": count_right_rows(len(rows), len(rows)),
        "committed": dict(prediction.answers) if prediction.committed else None,
    }


def _row_data(question: Question, run: QuizRun, sentence_numbers: dict[str, int]) -> dict[str, Any]:
    """Return what the script needs to judge a row.

    name: of the question.
    right: the right answer.
    refutations: pairs of a wrong answer and the indices of the sentences against it.
    choices: what they are called in the language in use; only for a question with choices.

    For a free answer:
    kind: how it is compared, as "names", "text" or "value".
    isDecimal: true if numbers are compared with a tolerance.
    pattern, names: see `Question.is_readable`.
    facts: the indices of the sentences against an answer that is not in `refutations`.
    format: how to write an answer.
    """
    right = question.right_answer(run)

    def number_sentences(refutation: Refutation) -> list[int]:
        sentences = map(inline_html, refutation.compose_sentences(set()))
        return [sentence_numbers.setdefault(text, len(sentence_numbers)) for text in sentences]

    foreseen = question.foresee_refutations(run).items()
    refutations = [[answer, number_sentences(refutation)] for answer, refutation in foreseen]
    row: dict[str, Any] = {"name": question.name, "refutations": refutations}
    if question.bound_choices:
        choices = {choice: translate_choice(choice) for choice in question.bound_choices}
        return row | {"right": format_answer(right), "choices": choices}

    kind, names = "value", set[str]()
    if isinstance(right, frozenset):
        kind = "names"
        names = parse_names(list(run.moment().values)) | parse_names(right)
    elif isinstance(right, str):
        kind = "text"
    if question.pattern:
        names = {name.casefold() for name in question.node_names(right, run)}
    return row | {
        "right": _to_json(right),
        "kind": kind,
        "isDecimal": "." in format_answer(right),
        "pattern": question.pattern,
        "names": sorted(names),
        "facts": number_sentences(Refutation(question.describe_facts(run), None, "")),
        "format": question.answer_format,
    }


def _to_json(right: Any) -> Any:
    """Return a right answer as JSON has it."""
    if isinstance(right, frozenset):
        return sorted(name.casefold() for name in right)
    if isinstance(right, list | tuple):
        return [_to_json(item) for item in right]
    if isinstance(right, float):
        # The digits that are shown: in those all engines agree, so stored outputs do not change.
        return float(f"{right:.6g}") if math.isfinite(right) else str(right)
    return right
