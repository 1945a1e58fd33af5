"""Retests: new programs on a misconception. Each is run, tests one thing, and alone settles it."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import keyword
import pkgutil
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import copylab.lessons
import pytest
from copylab import Misconception, predict, retest
from copylab.lessons import recall
from copylab.lessons.clone import joined
from copylab.questions import ENDS, outcome, same_storage, value
from copylab.quiz.answers import format_answer
from copylab.quiz.misconceptions import MISCONCEPTIONS
from copylab.quiz.prediction import Retest
from copylab.quiz.progress import add_note, find_note, load_notes, load_seed
from copylab.quiz.retest_programs import RETEST_PROGRAMS, RetestProgram
from copylab.quiz.retests import _choose_program, draw_retest, fill_placeholders, find_programs
from copylab.quiz.reveal import UnreadableAnswerError
from copylab.quiz.runs import QuizRun

import tinytorch

MODULES = [
    importlib.import_module(f"copylab.lessons.{module.name}")
    for module in pkgutil.iter_modules(copylab.lessons.__path__)
]
OWN = [
    thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, Misconception)
]
NAMEABLE = {known.name: known for known in [*OWN, *MISCONCEPTIONS.values()]}
VIEW = predict(
    "x = torch.tensor([1.0, 2.0])\ny = x[:]\ny[0] = 50.0",
    [same_storage("x", "y"), value("x")],
    key="test/view",
)
NAME = "a view is a copy"


@pytest.fixture(autouse=True)
def _notes_are_of_one_test(progress_file: Path) -> None:
    """Keep the notes of a test in a file of its own."""


def check_retest(known: Misconception, engine: ModuleType, seed: int, number: int) -> str:
    """Run a retest, and what it is believed to be; return its program."""
    run, question = draw_retest(known, engine, seed=seed, number=number)
    right = question.right_answer(run)
    (believed,) = question.wrong
    where = f"{known.name}, {number}, seed {seed}:\n{run.code}"
    assert question.is_readable(believed, right, run), where
    assert not question.is_right(question.normalize_answer(believed), right), where
    found = question.foresee_refutations(run)
    assert {known.name} == {
        refutation.misconception.name
        for refutation in found.values()
        if refutation.misconception is not None
    }, where
    against = question.refute(run, believed)
    assert f"“{believed}” would be right" in against.argument, where
    assert known.write_argument(run) in against.argument, where
    for span in re.findall("`(.+?)`", known.write_argument(run)):
        # A text that calls the tensors `x` and `t` is untrue of a program with other names.
        for word in re.findall(r"[^\W\d]\w*", span):
            is_word_of_code = hasattr(tinytorch.Tensor, word) or hasattr(tinytorch, word)
            is_word_of_code |= hasattr(builtins, word) or keyword.iskeyword(word)
            assert is_word_of_code or re.search(rf"\b{word}\b", run.code), (where, word)
    if question.name != "outcome":
        assert run.trace.error is None, where
    assert 2 <= len(run.code.splitlines()) <= 5, where
    return run.code


def test_every_misconception_has_three_programs_that_refute_it_alone() -> None:
    assert set(MISCONCEPTIONS) == set(RETEST_PROGRAMS)
    assert OWN
    assert len(NAMEABLE) >= 53
    for known in NAMEABLE.values():
        programs = {check_retest(known, tinytorch, 1, number) for number in range(3)}
        assert len(programs) == len(find_programs(known)) == 3, known.name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "seed"),
    [
        pytest.param("torch", 0, marks=pytest.mark.torch),
        *[
            pytest.param(engine, seed, marks=[mark, pytest.mark.stress])
            for engine, mark in (("tinytorch", pytest.mark.slow), ("torch", pytest.mark.torch))
            for seed in range(2, 8)
        ],
    ],
)
def test_they_do_so_with_other_names_numbers_and_shapes(engine: str, seed: int) -> None:
    torch = importlib.import_module(engine)
    for position, known in enumerate(NAMEABLE.values()):
        # Seed 0 is asked on each change, of one program each; the weekly ones are of all.
        for number in [position % 3] if seed == 0 else range(3):
            check_retest(known, torch, seed, number)


def test_a_seed_draws_the_same_program_and_another_one_another() -> None:
    def draw(seed: int, number: int = 0) -> str:
        return draw_retest(MISCONCEPTIONS[NAME], tinytorch, seed=seed, number=number).run.code

    assert draw(0) == "red = torch.tensor([7.0, 2.0, 4.0])\nblue = red[1:]\nblue[0] = 13.0", (
        "stored in notebooks, so the same on each machine and in each release of Python"
    )
    assert len({draw(seed) for seed in range(1, 41)}) == 40
    assert draw(1, 0) != draw(1, 3), "the same program with other names and numbers"
    assert retest(NAME, seed=5).code == draw(5)
    with pytest.raises(KeyError, match="did you mean 'a view is a copy'"):
        retest("view is a copy")
    with pytest.raises(ValueError, match="no program that tests 'mine'"):
        retest(Misconception("mine", "It is so.", "It is not."))
    mine = Misconception(
        "no write",
        "It stays.",
        "It goes.",
        [RetestProgram("x = 1; x = 2", {2: "pass"}, value, "x")],
    )
    assert retest(mine).commit(["1"]).misconceptions == ("no write",)
    assert retest("no write", seed=3).code == retest(mine, seed=3).code


READINGS = {
    "a name is a copy": ["y = x.clone()", "y = x[:]", "y = x.data", "y = x.detach()"],
    "equal numbers are one tensor": ["y = x"],
    "a copy shares memory": ["y = x", "y = x[:]", "y = x.data"],
    "in place makes a new tensor": ["{}; x = x[:]", "{}; x = x.data", "{}; x = x.clone()"],
    "shared memory, shared counter": ["y = x[:]", "y = x.detach()"],
    "detach copies": ["{}; {name} = {name}.clone()"],
    "clone cuts the graph": ["{}; y = y.detach()", "{}; y = y.detach().requires_grad_()"],
}
"""Other forms in which a misconception is believed: what the line is taken to do, `{}` for what it does."""


@pytest.mark.parametrize("name", READINGS)
def test_in_no_form_a_belief_leads_to_the_right_answer(name: str) -> None:
    """The belief that `y = x` makes a view led to the right version, too, and a second tensor was settled."""
    for number in range(3):
        run, question = draw_retest(NAMEABLE[name], tinytorch, seed=4, number=number)
        program, replacements = _choose_program(NAMEABLE[name], 4, number)
        right, lines = question.right_answer(run), program.code.split("; ")
        line = lines[program.line - 1]
        for reading in READINGS[name]:
            lines[program.line - 1] = reading.format(line, name=line.partition(" = ")[0])
            code = fill_placeholders("\n".join(lines), replacements)
            with contextlib.suppress(ValueError):  # it raises, and has no answer
                believed = QuizRun(code, tinytorch)
                assert question.right_answer(believed) != right, (reading, run.code)


def test_what_a_retest_asks_for_is_computed_in_the_head() -> None:
    """9 * 9 + 60 took longer than the point."""
    for known in NAMEABLE.values():
        for seed in (1, 2):
            for number in range(3):
                run, question = draw_retest(known, tinytorch, seed=seed, number=number)
                if question.choices is None:
                    right = format_answer(question.right_answer(run))
                    numbers = [abs(float(each)) for each in re.findall(r"[\d.]*\d", right)]
                    assert max(numbers, default=0) < 30, run.code


def answer_of(asked: Retest, *, right: bool) -> list[str]:
    (question,) = asked.questions
    (believed,) = question.wrong
    return [question.right_answer(asked.run(tinytorch)) if right else believed]


def test_only_the_first_answer_to_a_retest_settles() -> None:
    VIEW.reset()
    reveal = VIEW.commit(["no", "[1, 2]"])
    first, second = reveal.rows
    assert (first.misconception_to_retest, second.misconception_to_retest) == (
        MISCONCEPTIONS[NAME],
        None,
    ), "once on a page"
    met = {"state": "met", "in": "test/view", "right": 0}
    assert find_note("misconceptions", NAME) == met
    VIEW.retry()
    VIEW.commit(["yes", "[50, 2]"])
    assert find_note("misconceptions", NAME) == met, "the answers were on the screen"
    with pytest.raises(KeyError):
        VIEW.make_retest(NAME)
    VIEW.reset()
    VIEW.commit(["no", "[50, 2]"])

    asked = VIEW.make_retest(NAME)
    assert (
        asked.code
        == draw_retest(MISCONCEPTIONS[NAME], tinytorch, seed=load_seed(), number=0).run.code
    )
    assert asked.commit(answer_of(asked, right=False)).rows[0].misconception_to_retest is not None
    assert find_note("misconceptions", NAME) == met | {"retests": 1}
    asked.reset()
    again = asked.commit(answer_of(asked, right=True))
    assert again.headline.startswith(
        "Your answer is right: it is not true that “A part of a tensor"
    ), "nothing was noted"
    assert find_note("misconceptions", NAME)["state"] == "met", "its answer was on the screen, too"
    asked.reset()
    asked.commit(answer_of(asked, right=False))

    another = asked.make_retest(NAME)
    assert another.code != asked.code
    assert find_note("predictions", "test/view")["of"] == 2, (
        "a retest is no prediction of the course"
    )


def test_after_a_right_answer_there_is_another_program() -> None:
    met = {"state": "met", "in": "test/view", "retests": 1, "right": 0}
    add_note("misconceptions", NAME, met)
    another = retest(NAME)
    assert not another.restore()
    first_right = another.commit(answer_of(another, right=True))
    assert first_right.headline == (
        "Your answer is right: it is not true that “A part of a tensor, or another shape of it, has memory of its own”. "
        "One more program settles it."
    )
    assert find_note("misconceptions", NAME) == met | {"retests": 2, "right": 1}
    assert 'data-do="retest"' in another.live().form.content, "below a right row, too"
    last = another.make_retest(NAME)
    assert last.code != another.code
    said = last.commit(answer_of(last, right=True))
    assert said.headline == (
        "Your answer is right, and that settles it: it is not true that “A part of a tensor, or another shape of it, "
        "has memory of its own”."
    )
    assert said.rows[0].misconception_to_retest is None
    settled = {"state": "settled", "retests": 3, "right": 2}
    assert find_note("misconceptions", NAME) == met | settled
    assert retest(NAME).code not in (another.code, last.code)


def test_a_retest_of_a_given_number_is_noted_only_with_an_origin() -> None:
    VIEW.reset()
    VIEW.commit(["no", "[1, 2]"])
    met = find_note("misconceptions", NAME)
    numbered = retest(NAME, number=0)
    numbered.commit(answer_of(numbered, right=True))
    assert find_note("misconceptions", NAME) == met
    asked = retest(NAME)
    asked.commit(answer_of(asked, right=True))
    assert find_note("misconceptions", NAME) == met | {"retests": 1, "right": 1}


def ask(*, right: bool) -> None:
    asked = retest(NAME)
    asked.commit(answer_of(asked, right=right))


def test_it_takes_two_right_answers_in_a_row_to_different_programs() -> None:
    """One of two choices was right by luck, and settled what was believed as before."""
    add_note("misconceptions", NAME, {"state": "met", "in": "test/view"})
    same = [retest(NAME), retest(NAME)]
    for asked in same:
        said = asked.commit(answer_of(asked, right=True)).headline
    assert same[0].code == same[1].code, "open in two places"
    assert find_note("misconceptions", NAME)["right"] == 1
    assert "settles" not in said
    ask(right=False)
    assert find_note("misconceptions", NAME)["right"] == 0
    ask(right=True)
    assert find_note("misconceptions", NAME)["state"] == "met"
    ask(right=True)
    assert find_note("misconceptions", NAME)["state"] == "settled"


def test_a_file_of_before_is_read_as_it_was() -> None:
    """There one right answer settled it, and none was counted."""
    add_note("misconceptions", NAME, {"state": "settled", "in": "test/view", "retests": 1})
    ask(right=True)
    assert find_note("misconceptions", NAME)["state"] == "settled"
    add_note("misconceptions", NAME, {"state": "met", "in": "test/view", "retests": 2, "right": 0})
    ask(right=True)
    assert find_note("misconceptions", NAME)["state"] == "met"


def test_a_retest_program_takes_one_line_for_another_and_has_no_letter_as_an_attribute() -> None:
    for known in NAMEABLE.values():
        for program in find_programs(known):
            text = f"{program.code}; {program.believed}"
            assert not re.search(r"\.[xyzVWNSTUMRCPKI]\b", text), program
    with pytest.raises(ValueError, match="one line that is taken for another, not 2"):
        RetestProgram("x = 1; x = 2", {1: "x = 3", 2: "pass"}, value, "x")


def test_a_button_below_a_wrong_row_opens_a_retest_once() -> None:
    VIEW.reset()
    VIEW.commit(["no", "[50, 2]"])
    view: Any = VIEW.live()
    assert view.form.content.count('data-do="retest" data-misconception="a view is a copy"') == 1
    assert VIEW.reveal is not None
    assert "data-do" not in VIEW.reveal.html
    press = {"do": "retest", "misconception": NAME}
    for content in (
        press,
        press,
        {"do": "retest", "misconception": "clone cuts the graph"},
        {"do": "retest"},
    ):
        view._handle_message(None, content, None)
    form, below = view.children
    assert form.says == "A new program is below."
    asked = below._prediction
    assert asked.title == f"New program: {asked.questions[0].text.replace('`', '')}"
    # What is wrong is no title: it would give the answer away.
    assert NAME not in asked.title
    asked.commit(answer_of(asked, right=False))
    assert 'data-do="retest"' in below.form.content
    for refused in ("retry", "reset"):
        assert f'data-do="{refused}"' not in below.form.content
    below._handle_message(None, press, None)
    assert below.children[-1]._prediction.code != asked.code
    assert below.children[-1]._prediction.title.startswith("New program: ")
    view._handle_message(None, {"do": "steps"}, None)
    *own, last = view.children
    assert [type(each).__name__ for each in own] == ["PredictionForm", "HTML", "StepsWidget"]
    assert last is below, "the player is below the program that it goes through"
    view._handle_message(None, {"do": "reset"}, None)
    assert view.children == (form,)


def test_a_lesson_opens_with_what_is_open_from_an_earlier_one() -> None:
    fixed = recall("detach")
    assert fixed.title == "From an earlier lesson: what does this program do?"
    assert fixed.tested_misconception.name == "clone cuts the graph"
    assert fixed.commit(answer_of(fixed, right=True)).headline.startswith(
        "Your answer is right: it is not true that “A clone is"
    )
    assert find_note("misconceptions", fixed.tested_misconception.name) == {}, "it was never met"
    add_note("misconceptions", "detach copies", {"state": "met", "in": "detach/cut"})
    add_note("misconceptions", "a lost one", {"state": "met", "in": "clone/joined"})
    assert recall("detach").tested_misconception is fixed.tested_misconception
    assert recall("data").tested_misconception.name == "detach copies"
    add_note("misconceptions", "a clone is a leaf", {"state": "met", "in": "stop_gradient/x"})
    assert recall("data").tested_misconception.name == "detach copies", "that is of a later lesson"
    add_note(
        "misconceptions", "a name follows a name", {"state": "met", "in": "assignment/rebound"}
    )
    wrong = recall("data")
    assert wrong.tested_misconception.name == "a name follows a name", "one of a lesson's own"
    wrong.commit(answer_of(wrong, right=True))
    assert find_note("misconceptions", wrong.tested_misconception.name)["state"] == "settled"
    assert recall("data").tested_misconception.name == "a name follows a name", "it was answered"
    assert recall("in_place").tested_misconception.name == "detach copies"
    fresh = recall("clone_detach")
    assert fresh.questions[0].text


@pytest.mark.parametrize("right", [True, False])
def test_a_recall_that_was_answered_comes_back_as_it_was(right: bool) -> None:
    """After a restart of the kernel another question was there, without an answer."""
    add_note("misconceptions", "a name follows a name", {"state": "met", "in": "clone/recall"})
    asked = recall("detach")
    assert asked.tested_misconception.name == "a name follows a name", "of a lesson's own"
    assert not asked.restore(), "nothing was answered"
    said = asked.commit(answer_of(asked, right=right)).text
    noted = load_notes()
    assert noted["recalls"]["detach"]["settled"] is right
    again = recall("detach")
    assert again.restore()
    assert again.code == asked.code
    assert again.answers == asked.answers
    assert again.reveal is not None
    assert again.reveal.text == said
    assert again.reveal.headline.startswith("Your answer is right, and that settles it") is right
    assert load_notes() == noted, "to look at it notes nothing"
    again.reset()
    again.commit(answer_of(again, right=not right))
    assert load_notes() == noted, "the right answer was on the screen"


@pytest.mark.parametrize(
    "change",
    [
        {"misconception": "a lost one"},
        {"code": "x = 1"},
        {"seed": "7"},
        {"number": None},
        {"answers": ["yes"]},
    ],
)
def test_a_recall_of_another_edition_is_not_brought_back(change: dict[str, Any]) -> None:
    asked = recall("copy_")
    asked.commit(answer_of(asked, right=False))
    add_note("recalls", "copy_", change)
    assert not recall("copy_").restore()


def test_an_answer_of_another_edition_is_asked_for_again() -> None:
    asked = recall("copy_")
    asked.commit(answer_of(asked, right=False))
    add_note("recalls", "copy_", {"answers": {"another question": "yes"}})
    again = recall("copy_")
    assert not again.restore()
    assert not again.committed


def test_what_is_no_answer_of_the_belief_is_taken_for_none() -> None:
    """A list of letters was judged, and what came next was "The same belief in a new program"."""
    asked = recall("assignment")
    for nonsense in ("banana", "['a']", "True", "{}", "..."):
        with pytest.raises(UnreadableAnswerError, match="cannot be read"):
            asked.commit([nonsense])
        assert not asked.committed
    (row,) = asked.commit(["[99999, 99999]"]).rows
    assert row.refutation is not None
    assert row.refutation.misconception is None
    assert row.misconception_to_retest is asked.tested_misconception
    after = asked.make_retest(asked.tested_misconception.name)
    assert "belief" not in after.title, "none was shown"


def test_a_right_row_that_can_be_got_wrong_says_why() -> None:
    code = "x = torch.ones(2)\ny = x.clone()\ny += 1"
    p = predict(code, [same_storage("x", "y"), outcome()])
    storages, end = p.commit(["no", ENDS]).rows
    assert storages.text == (
        "1. Do `x` and `y` share a storage?\n   right: no\n   `x` and `y` have a storage each. "
        "Line 2 (`y = x.clone()`) gave `y` its own storage."
    )
    assert end.sentences == [], "no misconception leads to another answer"
    reasons = 0
    right = [question.right_answer(joined.run(tinytorch)) for question in joined.questions]
    joined.reset()
    for row in joined.commit(right).rows:
        reasons += bool(row.sentences)
    joined.reset()
    assert reasons == len(right)


def test_a_retest_and_the_picture_after_a_commit_say_no_more_than_the_lesson_so_far() -> None:
    asked = predict(VIEW.code, [same_storage("x", "y")], key="test/level", level="names")
    shown = asked.commit(["no"])
    assert "version" not in shown.text.partition("At the end of the run:")[2]
    VIEW.reset()
    assert "version" in VIEW.commit(["no", "[1, 2]"]).text.partition("At the end of the run:")[2]
    first = asked.make_retest(NAME)
    first.commit(answer_of(first, right=False))
    stored = asked.make_stored_retest(MISCONCEPTIONS[NAME], tinytorch)
    for each in (first, first.make_retest(NAME), stored):
        assert "version" not in each.steps().text
    assert "version" in VIEW.make_retest(NAME).steps().text


def test_a_retest_on_nodes_shows_the_graph() -> None:
    asked = Retest("a clone copies the graph", seed=1, number=0)
    assert "N2 CloneBackward0" in asked.commit(["2"]).text
    other = Retest("a copy shares memory", seed=1, number=0)
    assert "Graph:" not in other.commit(["[1]"]).text
