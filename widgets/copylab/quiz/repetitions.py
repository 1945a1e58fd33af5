"""What several rows of a prediction would say: each sentence is said once.

The facts of two questions may have a sentence in common, which a learner would read twice in one
table. There are two ways of saying it once. What the facts of a question have is known before it is
answered: a later one points to the row of the earlier one (`point_to_earlier_facts`). Which rows
are shown with the sentence that a write made a gradient wrong depends on the answers: those behind the
first one point to it when they are judged (`say_wrong_gradients_once`; on a page without a kernel the
script does it, `leaveOutSaid` in `web/standalone.js`).

A misconception that comes again is another thing: see `Refutation.compose_sentences`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from ..wording import gettext, join_sentences
from .evidence import list_wrong_gradients
from .question import Question
from .runs import QuizRun


def point_to_earlier_facts(questions: Sequence[Question], run: QuizRun) -> list[Question]:
    """Return the questions; in place of facts that an earlier one has they say where these are."""
    facts = [_split_sentences(question.describe_facts(run)) for question in questions]
    # `say_wrong_gradients_once` says these once, when it is known which rows are shown with facts.
    wrong_gradients_text = " ".join(list_repeated_sentences(questions, run))
    # A right answer to which nothing wrong was foreseen is shown without its facts.
    is_always_shown = [bool(question.explain_right(run)) for question in questions]
    pointing_questions = list(questions)
    for index, question in enumerate(questions):
        if any(sentence in wrong_gradients_text for sentence in facts[index]):
            continue
        for earlier in range(index):
            # A row must not point to one that may be shown without them.
            if not is_always_shown[earlier]:
                continue
            rest = [sentence for sentence in facts[index] if sentence not in facts[earlier]]
            if len(rest) < len(facts[index]):
                point_to_row = partial(_point_to_row, earlier + 1, rest)
                pointing_questions[index] = replace(question, because=point_to_row)
                break
    return pointing_questions


def _split_sentences(text: str) -> list[str]:
    # Not at each point: `x.grad` and 0.5 have one, and no space behind it. In Chinese none follows.
    return list(filter(None, re.split(r"(?<=\.)\s+|(?<=。)\s*", text)))


def _point_to_row(number: int, rest: Sequence[str], _run: QuizRun) -> str:
    # What is left stands by itself: a row that began with another one's reason hung on nothing of its own.
    return join_sentences(rest) if rest else gettext("Row {number} says why.", number=number)


def list_repeated_sentences(questions: Sequence[Question], run: QuizRun) -> list[str]:
    """Return the sentences on wrong gradients, if the facts of several questions may have them."""
    count = sum(question.features.says_wrong_gradients for question in questions)
    return list_wrong_gradients(run) if count > 1 else []


def say_wrong_gradients_once(
    questions: Sequence[Question], sentences_of_rows: Sequence[Sequence[str]], run: QuizRun
) -> list[Sequence[str]]:
    """Return the sentences of each row; one on a wrong gradient is left in the first that has it.

    How the run ended and the gradient of each leaf have facts that end with the same one.
    """
    wrong_gradients = list_repeated_sentences(questions, run)
    row_by_sentence: dict[str, int] = {}
    once: list[Sequence[str]] = []
    for number, sentences_of_row in enumerate(sentences_of_rows, 1):
        sentences = list(sentences_of_row)
        for wrong in wrong_gradients:
            if any(wrong in sentence for sentence in sentences):
                first = row_by_sentence.setdefault(wrong, number)
                again = gettext("Row {number} says which write did that.", number=first)
                if first != number:
                    # Within what a row says, as it is the end of a longer text there.
                    sentences = [sentence.replace(wrong, again) for sentence in sentences]
        once.append(sentences)
    return once
