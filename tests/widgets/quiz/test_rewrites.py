"""Exercises that a seed draws: a line to rewrite, judged by running what is there instead."""

from __future__ import annotations

import importlib
import itertools
import pkgutil

import copylab.lessons
import pytest
from copylab.questions import value
from copylab.quiz.exams import choose_rewritable, draw_exercises
from copylab.quiz.misconceptions import MISCONCEPTIONS, Misconception
from copylab.quiz.retest_programs import RetestProgram
from copylab.quiz.rewrites import (
    Rewrite,
    _make_rewrite,
    draw_rewrite,
    find_rewritable,
    find_rewrite,
)

import tinytorch

for module in pkgutil.iter_modules(copylab.lessons.__path__):
    importlib.import_module(f"copylab.lessons.{module.name}")  # some have beliefs of their own
VIEW = MISCONCEPTIONS["a view is a copy"]
SHAPE = Misconception(
    "another shape is a copy",
    "Another shape of a tensor has memory of its own.",
    "A view is another way to read the same storage.",
    [
        RetestProgram(
            "x = torch.tensor(V); y = x.view(N, 1); x[I] = K",
            {2: "y = x.view(N, 1).clone()"},
            value,
            "y",
        )
    ],
)


def judge(rewrite: Rewrite, line: str) -> tuple[str, str]:
    verdict = rewrite.judge_cell(rewrite._replace_line(line))
    return verdict.state, verdict.says


def test_a_line_is_judged_by_what_the_program_does_with_it() -> None:
    rewrite = _make_rewrite(SHAPE, 0, tinytorch, seed=4)
    x, y = rewrite.code.partition(" = ")[0], rewrite.solution.partition(" = ")[0]
    length = rewrite.code.split("(")[2].split(",")[0]
    assert (rewrite.line, rewrite.keeps_numbers) == (2, True)
    assert f"{y} = {x}.view({length}, 1)" in rewrite.code
    for right in (
        rewrite.solution,
        f"{y} = {x}.clone().view({length}, 1)",
        f"{y} = {x}.view({length}, 1); {y} = {y}.clone()  # in two steps",
        f"with torch.no_grad(): {y} = {x}.view({length}, 1) * 1",
    ):
        assert judge(rewrite, right)[0] == "right", right
    for line, words in (
        (f"{y} = {x}.reshape({length}, 1)", "and should be"),
        (f"{y} = {x}.clone()", f"`{y}` does not show the numbers"),
        (f"{y} = 7.0", f"`{y}` does not show the numbers"),
        ("pass", f"`{y}` does not show the numbers"),
        ("", "another line than line 2"),
        (f"{y} = {x}.nothing()", "line 2 raises AttributeError"),
        (f"{y} = {x}.view({length}, 1).clone(); del {x}", f"`{x}` does not show the numbers"),
        (f"{x} = {x}.clone()\n{y} = {x}.view({length}, 1)", "and should be"),
        (f"for _ in range(2):\n    {y} = {x}.view({length}, 1).clone()", "has to stay one line"),
    ):
        state, says = judge(rewrite, line)
        assert (state, words in says) == ("wrong", True), (line, says)
    as_it_was = f"import_is_none = 1\n{rewrite.code}"
    assert "another line" in rewrite.judge_cell(as_it_was).says
    untouched = rewrite.judge_cell(f"# mine\n{rewrite.code}  # exercise 3")
    assert untouched.state == "not attempted"


def test_a_later_line_that_raises_is_no_answer() -> None:
    rewrite = _make_rewrite(VIEW, 0, tinytorch, seed=1)
    y = rewrite.solution.partition(" = ")[0]
    state, says = judge(rewrite, f"{rewrite.solution}; {y} = {y}.expand(2, -1)")
    assert state == "wrong"
    assert "does not show" in says
    copied = _make_rewrite(MISCONCEPTIONS["every write breaks backward"], 0, tinytorch, seed=1)
    assert (copied.keeps_numbers, copied.question.name) == (False, "outcome")
    assert judge(copied, copied.solution)[0] == "right", "that a line raises is what is asked for"


def test_a_key_draws_an_exercise_again_and_a_seed_another_one() -> None:
    rewrite = draw_rewrite(VIEW, tinytorch, 5)
    again = find_rewrite(rewrite.key, tinytorch)
    assert again is not None
    assert (again.code, again.text, again.solution) == (
        rewrite.code,
        rewrite.text,
        rewrite.solution,
    )
    assert find_rewrite("clone/both", tinytorch) is None
    assert len({draw_rewrite(VIEW, tinytorch, seed).code for seed in range(1, 21)}) == 20
    mine = Misconception("mine", "It is so.", "It is not.")
    with pytest.raises(ValueError, match="has a line to rewrite"):
        draw_rewrite(mine, tinytorch, 1)


def test_two_of_a_class_have_no_exercise_in_common() -> None:
    misconceptions = choose_rewritable([VIEW, MISCONCEPTIONS["detach copies"]], tinytorch, 3, 5)
    assert {one.name for one in misconceptions} == {VIEW.name, "detach copies"}
    sheets = [
        {one.code for one in draw_exercises(misconceptions, tinytorch, seed=3, learner=f"{number}")}
        for number in range(30)
    ]
    common = [first & second for first, second in itertools.combinations(sheets, 2)]
    assert sum(map(bool, common)) <= 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "seed"),
    [
        ("tinytorch", 1),
        pytest.param("tinytorch", 2, marks=pytest.mark.stress),
        pytest.param("torch", 2, marks=[pytest.mark.torch, pytest.mark.stress]),
        pytest.param("torch", 3, marks=[pytest.mark.torch, pytest.mark.stress]),
    ],
)
def test_each_solution_passes_and_what_was_handed_out_does_not(engine: str, seed: int) -> None:
    torch = importlib.import_module(engine)
    rewritable = [
        (known, number)
        for known in MISCONCEPTIONS.values()
        for number in find_rewritable(known, tinytorch)
    ]
    assert len(rewritable) >= 111, "as many programs make an exercise as did"
    # Seed 1 is asked on each change, of every third program; the weekly ones are of all.
    for known, number in rewritable[:: 3 if seed == 1 else 1]:
        rewrite = _make_rewrite(known, number, torch, seed)
        states = [
            rewrite.judge_cell(program).state
            for program in (
                rewrite.right_answer,
                rewrite.code,
                rewrite._replace_line("pass"),
            )
        ]
        assert states == ["right", "not attempted", "wrong"], rewrite
