"""No diagnosis contradicts another answer of the same table: every pair of rows of every lesson."""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from collections.abc import Iterator

import copylab.lessons
import pytest
from copylab import questions as ask
from copylab.lessons.clinic import triage
from copylab.lessons.clone import apart
from copylab.lessons.clone_detach import orders
from copylab.lessons.data import past, writes
from copylab.lessons.in_place import breaks
from copylab.lessons.stop_gradient import parts
from copylab.lessons.view_reshape import shapes
from copylab.quiz.answers import format_answer
from copylab.quiz.contradictions import describe_contradiction
from copylab.quiz.misconceptions import misconception
from copylab.quiz.prediction import Prediction
from copylab.quiz.reveal import Reveal, judge_answers
from copylab.quiz.standalone import _collect_page_data

import tinytorch

LESSONS = [module.name for module in pkgutil.iter_modules(copylab.lessons.__path__)]


def answer_rows(prediction: Prediction, **answers: str) -> list[str]:
    """Return the right answers, but for those of some rows: `row_5="line 5 raises an error"`."""
    run = prediction.run(tinytorch)
    rows = [format_answer(question.right_answer(run)) for question in prediction.questions]
    for row, answer in answers.items():
        rows[int(row.removeprefix("row_")) - 1] = answer
    return rows


@pytest.mark.parametrize(
    ("prediction", "row", "answers"),
    [
        # The row above said that an error is raised, and "it raised no error" was put into its mouth.
        (past, 6, {"row_5": "line 5 raises an error", "row_6": "[0.197, 0.105, 0.045]"}),
        (past, 5, {"row_5": "line 5 raises an error"}),
        (writes, 1, {"row_1": "an error"}),
        (writes, 2, {"row_1": "a wrong gradient", "row_2": "the right gradient"}),
        (writes, 4, {"row_3": "an error", "row_4": "the right gradient"}),
        (breaks, 4, {"row_4": "no"}),
        (parts, 3, {"row_3": "no"}),
        (shapes, 3, {"row_2": "no", "row_3": "yes"}),
        (orders, 2, {"row_2": "yes", "row_3": "yes"}),
    ],
)
def test_a_belief_that_another_answer_denies_is_not_quoted(
    prediction: Prediction, row: int, answers: dict[str, str]
) -> None:
    given = answer_rows(prediction, **answers)
    run = prediction.run(tinytorch)
    judged = judge_answers(prediction.questions, given, run)[row - 1]
    refutation = prediction.questions[row - 1].refute(run, given[row - 1])
    assert refutation.misconception is not None
    assert refutation.misconception.belief not in " ".join(judged.sentences)
    assert judged.refutation is not None
    assert judged.refutation.misconception is None, "nor is it noted as met"
    assert refutation.argument in judged.sentences
    assert judged.misconception_to_retest is not None, "a new program tests it all the same"


@pytest.mark.parametrize(
    ("prediction", "row", "answers"),
    [
        (past, 6, {"row_6": "[0.197, 0.105, 0.045]"}),
        (writes, 4, {"row_4": "the right gradient"}),
        (breaks, 4, {"row_3": "no", "row_4": "no"}),
        (orders, 2, {"row_2": "yes"}),
    ],
)
def test_a_belief_that_no_answer_denies_is_quoted(
    prediction: Prediction, row: int, answers: dict[str, str]
) -> None:
    given = answer_rows(prediction, **answers)
    rows = judge_answers(prediction.questions, given, prediction.run(tinytorch))
    shown = rows[row - 1].refutation
    assert shown is not None
    assert shown.misconception is not None


LEAF = Prediction(
    "x = torch.ones(2, requires_grad=True)\ny = x.detach()",
    [ask.is_leaf("y"), ask.requires_grad("y")],
)

OTHER_DTYPE = Prediction(
    "a = torch.ones(2)\nb = a.view(torch.int32)",
    [ask.same_storage("a", "b"), ask.value("a"), ask.value("b")],
)


@pytest.mark.parametrize(
    ("prediction", "answers", "told"),
    [
        (
            apart,
            {"row_2": "yes"},
            "Your answers to rows 2, 4 and 5 contradict each other: if `a` and `b` share a storage, they show",
        ),
        (apart, {"row_1": "yes"}, "to rows 1 and 2 contradict each other: if `a` and `b` are one"),
        (
            triage,
            {"row_4": "line 8 raises an error"},
            "to rows 4 and 5 contradict each other: if line 8 raises an error, no `backward` comes",
        ),
        (LEAF, {"row_1": "no"}, "to rows 1 and 2 contradict each other: a tensor that requires no"),
        # What belongs together, right or wrong.
        (apart, {}, ""),
        (apart, {"row_2": "yes", "row_5": "[1, 2]"}, ""),
        (apart, {"row_1": "yes", "row_2": "yes", "row_4": "[12, 11]"}, ""),
        (triage, {}, ""),
        (triage, {"row_4": "line 8 raises an error", "row_5": "none"}, ""),
        (triage, {"row_4": "it runs to its end"}, ""),
        (LEAF, {"row_2": "yes", "row_1": "no"}, ""),
        (OTHER_DTYPE, {}, ""),
        (LEAF, {}, ""),
    ],
)
def test_answers_that_cannot_all_be_true_are_named(
    prediction: Prediction, answers: dict[str, str], told: str
) -> None:
    given = answer_rows(prediction, **answers)
    run = prediction.run(tinytorch)
    found = describe_contradiction(prediction.questions, given, run)
    assert told in found
    assert bool(found) is bool(told)
    shown = Reveal(prediction.questions, given, run, lambda: "").text
    assert ("contradict each other" in shown) is bool(told)


@pytest.mark.parametrize("lesson", LESSONS)
def test_right_answers_contradict_nothing(lesson: str) -> None:
    definitions = vars(importlib.import_module(f"copylab.lessons.{lesson}"))
    for prediction in [item for item in definitions.values() if isinstance(item, Prediction)]:
        run = prediction.run(tinytorch)
        assert not describe_contradiction(prediction.questions, answer_rows(prediction), run)


def list_pairs(prediction: Prediction) -> Iterator[tuple[int, str, int, str]]:
    """Yield each answer of a row that can be foreseen beside each diagnosis of another row."""
    run = prediction.run(tinytorch)
    names = [question.name_misconceptions(run) for question in prediction.questions]
    rights = answer_rows(prediction)
    for one, other in itertools.permutations(range(len(names)), 2):
        answers = dict.fromkeys(
            [rights[one], *prediction.questions[one].bound_choices, *names[one]]
        )
        yield from ((one, answer, other, wrong) for answer in answers for wrong in names[other])


@pytest.mark.parametrize("lesson", LESSONS)
def test_no_pair_of_rows_contradicts_itself(lesson: str) -> None:
    """A right answer shows that a belief is not there which would have led to a wrong one; the page knows it, too."""
    definitions = vars(importlib.import_module(f"copylab.lessons.{lesson}"))
    for prediction in [item for item in definitions.values() if isinstance(item, Prediction)]:
        run, questions = prediction.run(tinytorch), prediction.questions
        names = [question.name_misconceptions(run) for question in questions]
        denials = _collect_page_data(prediction, run)["denials"]
        for one, answer, other, wrong in list_pairs(prediction):
            name = names[other][wrong]
            pair = [questions[one], questions[other]]
            row = judge_answers(pair, [answer, wrong], run)[1]
            is_quoted = row.refutation is not None and row.refutation.misconception is not None
            said = (lesson, one + 1, answer, other + 1, wrong, row.sentences)
            is_right = questions[one].is_right(answer, questions[one].right_answer(run))
            if is_right and name in names[one].values() and name != "the order changes the result":
                assert not is_quoted, said
            if answer == "a wrong gradient" or answer.endswith("raises an error"):
                assert not (is_quoted and name == "no error, right gradient"), said
            denying = dict(denials.get(name, [])).get(one, [])
            assert is_quoted is (answer not in denying), said
            # It is there in the mouth of its owner, if it is there.
            if is_quoted and names[one].get(answer) != name:
                assert f"“{misconception(name).belief}”" in " ".join(row.sentences), said
