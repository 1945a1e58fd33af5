"""The example in CONTRIBUTING.md, "How to add a question": put where it says, it answers, refutes and retests."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from copylab import Misconception, predict, tensor_facts
from copylab.quiz import evidence, misconceptions, ready_questions, retest_programs, wrong_answers
from copylab.quiz.retests import draw_retest
from lesson_calls import LESSONS, Meeting, describe_new_calls

NAME = "an element is a copy"


pytestmark = pytest.mark.usefixtures("progress_file")


def read_example() -> list[str]:
    """The code of the example's parts, in order."""
    guide = (Path(__file__).resolve().parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = guide.partition("### How to add a question\n")[2].partition("\n## ")[0]
    return [dedent(code) for code in re.findall(r"```python\n(.*?)```", section, re.DOTALL)]


def extend(module: ModuleType, code: str, **others: Any) -> SimpleNamespace:
    """What a module has, with a part of the example in it and other parts in those that it reads."""
    names = vars(module) | others
    exec(code, names)
    return SimpleNamespace(**names)


def test_the_example_answers_refutes_and_retests(
    engine: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    fact, reason, finder, entry, retests, declaration, rows = read_example()
    facts = extend(tensor_facts, fact)
    reasons = extend(evidence, reason, tensor_facts=facts)
    finders = extend(wrong_answers, finder)
    questions = extend(
        ready_questions, declaration, tensor_facts=facts, evidence=reasons, wrong_answers=finders
    )
    table = eval(f"{{{entry}}}")
    programs = eval(f"{{{retests}}}", vars(retest_programs))
    assert set(table) == set(programs) == {NAME}
    monkeypatch.setattr(misconceptions, "_own_misconceptions", {})
    belief, argument = table[NAME]
    known = Misconception(NAME, belief, argument, programs[NAME])
    monkeypatch.setitem(misconceptions.MISCONCEPTIONS, NAME, known)

    first, second = eval(f"[{rows}]", vars(questions) | {"VIEW": "x = torch.ones(3)\ny = x[1:]"})
    code, question, right = first
    assert question.right_answer(predict(code, [question]).run(engine)) is right
    code, question, wrong, name, words = second
    assert name == NAME
    (row,) = predict(code, [question]).commit([wrong]).rows
    assert row.refutation is not None
    assert words in row.refutation.facts
    assert row.refutation.misconception is known

    for number in range(3):
        run, asked = draw_retest(known, engine, seed=1, number=number)
        (believed,) = asked.wrong
        assert not asked.is_right(believed, asked.right_answer(run)), run.code
    begins = Meeting(LESSONS[0], "")
    assert list(describe_new_calls(NAME, known.retests, begins)) == []
