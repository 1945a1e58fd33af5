"""A class: an exam for each, read and judged; answers that no process of ours may believe."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from copylab.course import command
from copylab.course.exam import read_key, read_learners, write_exam
from copylab.course.judging import Judgement, judge_answer
from copylab.course.lesson import lessons_folder, read_notebook
from copylab.course.plain_answers import list_exercises, make_plain
from copylab.course.submissions import grade_class
from copylab.course.tables import decode_table, format_table
from copylab.quiz import MISCONCEPTIONS, choose_beliefs, draw_exam
from copylab.safe_files import SafeFolder

import tinytorch

NAMES = ["Ada", "김민수", "王 芳"]


def read_table(file: Path) -> list[dict[str, str]]:
    return decode_table(file.read_bytes())


def hand_in(folder: Path, learner: str, answers: dict[int, str]) -> None:
    """Hand in the exam of a learner, with these sources of answers."""
    notebook = read_notebook(folder / "exam" / learner / "exam.ipynb")
    for cell in notebook["cells"]:
        number = cell["id"].partition("-")[2]
        if cell["cell_type"] == "code" and int(number) in answers:
            cell["source"] = f"answer_{number} = {answers[int(number)]}"
    target = folder / "submitted" / learner
    target.mkdir(parents=True)
    (target / "exam.ipynb").write_text(json.dumps(notebook), "utf-8")


def test_an_exam_asks_all_the_same_beliefs_in_programs_of_their_own() -> None:
    beliefs = choose_beliefs(MISCONCEPTIONS.values(), 7, 12)
    assert len({belief.name for belief in beliefs}) == 12
    assert beliefs == choose_beliefs(reversed(MISCONCEPTIONS.values()), 7, 12)
    assert beliefs != choose_beliefs(MISCONCEPTIONS.values(), 8, 12)
    ada, bob = (draw_exam(beliefs, tinytorch, seed=7, learner=name) for name in ("Ada", "Bob"))
    again = draw_exam(beliefs, tinytorch, seed=7, learner="Ada")
    assert [one.code for one in ada] == [one.code for one in again]
    assert not {one.code for one in ada} & {one.code for one in bob}
    assert [one.belief.name for one in ada] != [one.belief.name for one in bob]
    assert {one.belief.name for one in ada} == {one.belief.name for one in bob}
    for asked in ada:
        (believed,) = asked.drawn.question.wrong
        assert asked.judge(asked.right_answer).state == "right"
        assert asked.judge(believed) == ("wrong", asked.belief.name)
        assert asked.judge(" ").state == "empty"
        if asked.drawn.question.bound_choices:
            assert asked.judge("[9").state == "unclear"


def test_a_class_writes_an_exam_and_is_graded(tmp_path: Path) -> None:
    write_exam(tmp_path, learners=NAMES, seed=3, count=4)
    key = read_table(tmp_path / "exam_key.csv")
    assert len(key) == 12
    assert {row["learner"] for row in key} == set(NAMES)
    right = {row["number"]: row["answer"] for row in key if row["learner"] == "김민수"}
    hand_in(
        tmp_path,
        "김민수",
        {1: repr(right["1"]), 2: f"{right['2']}  # not in quotes", 3: '"=HYPERLINK(1)"'},
    )
    other = tmp_path / "submitted" / "Ada"
    other.mkdir()
    (other / "exam.ipynb").write_text('{"cells": [{"cell_type": "code"}]}')
    (other / "02_clone.ipynb").write_text("[" * 100_000)
    (other / "loop.ipynb").symlink_to("/dev/zero")
    note = {"state": "right", "of": 9, "hints": 2, "learner": "김민수", "kind": "question"}
    notes = {"exercises": {"clone/both": note}, "predictions": {"=1+1": {"right": 1, "of": 2}}}
    (other / "copylab-progress.json").write_text(json.dumps(notes))
    (tmp_path / "submitted" / "Zoe").mkdir()

    tables, remarks = grade_class(tmp_path)
    assert [path.name for path in tables] == ["grades.csv", "answers.csv"]
    assert remarks[0] == "Learners: 4."
    grades = {row["learner"]: row for row in read_table(tmp_path / "grades.csv")}
    assert list(grades) == sorted([*NAMES, "Zoe"])
    assert (grades["김민수"]["exam_right"], grades["김민수"]["exam_of"]) == ("2", "4")
    assert grades["王 芳"]["remarks"] == "nothing was handed in"
    assert (grades["王 芳"]["exam_right"], grades["王 芳"]["exam_of"]) == ("0", "4")
    assert grades["Zoe"]["remarks"] == "no exam was written for this name"
    ada = grades["Ada"]
    assert (ada["exercises_of"], ada["predictions_committed"]) == ("0", "1")
    assert ada["remarks"] == "02_clone.ipynb cannot be read; exam.ipynb cannot be read"
    rows = read_table(tmp_path / "answers.csv")
    states = [row["state"] for row in rows if row["learner"] == "김민수"]
    assert states[:2] == ["right", "right"]
    assert states[3] == "empty"
    assert states[2] in ("wrong", "unclear")
    assert "'=HYPERLINK(1)" in {row["answer"] for row in rows}
    noted = [row for row in rows if row["from"] == "copylab-progress.json"]
    assert [(row["learner"], row["key"], row["kind"], row["hints"]) for row in noted] == [
        ("Ada", "clone/both", "exercise", "2"),
        ("Ada", "'=1+1", "prediction", ""),
    ]


def test_an_exam_is_not_written_over_and_its_key_is_of_this_edition(tmp_path: Path) -> None:
    write_exam(tmp_path, ["clone"], count=50)
    assert (tmp_path / "exam" / "exam.ipynb").is_file()
    key = read_key(SafeFolder(tmp_path))
    assert key is not None
    asked = {question.belief.name for question in key.questions[""]}
    assert {"in place fails on a clone", "clone cuts the graph"} <= asked, "one is the lesson's own"
    with pytest.raises(ValueError, match="an exam in this folder already"):
        write_exam(tmp_path)
    with pytest.raises(ValueError, match="Nothing was handed in"):
        grade_class(tmp_path)
    file = tmp_path / "exam_key.csv"
    file.write_text(file.read_text("utf-8").replace("torch.", "t0rch."), "utf-8")
    with pytest.raises(ValueError, match="not written by this edition"):
        grade_class(tmp_path)
    with pytest.raises(ValueError, match="no lesson 'x'"):
        write_exam(tmp_path / "other", ["x"])


def test_names_of_learners(tmp_path: Path) -> None:
    file = tmp_path / "names.csv"
    file.write_text("Ada,1\n\n王 芳;x\n", "utf-8-sig")
    assert read_learners(file) == ["Ada", "王 芳"]
    for text, why in (("a\na", "twice"), ("../a", "no name of a folder"), ("", "has 0 names")):
        file.write_text(text)
        with pytest.raises(ValueError, match=why):
            read_learners(file)


def test_the_commands_of_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "names.txt").write_text("Ada\n")
    words = ["exam", f"{tmp_path}/class", "--students", f"{tmp_path}/names.txt", "--seed", "2"]
    monkeypatch.setattr(sys, "argv", ["copylab", *words, "--questions", "2", "--language", "ko"])
    command.main()
    assert "exam_key.csv" in capsys.readouterr().out
    key = read_table(tmp_path / "class" / "exam_key.csv")
    assert [row["language"] for row in key] == ["ko", "ko"]
    assert not key[0]["question"].isascii()
    hand_in(tmp_path / "class", "Ada", {1: repr(key[0]["answer"]), 2: repr(key[1]["answer"])})
    monkeypatch.setattr(sys, "argv", ["copylab", "grade", f"{tmp_path}/class"])
    command.main()
    (grade,) = read_table(tmp_path / "class" / "grades.csv")
    assert grade["exam_right"] == "2"


def test_a_table_runs_nothing_and_says_what_was_written() -> None:
    values = ["=1+1", "@x", "+a", "-1", "-0.5", "[1, 2]", "a\nb", "-a"]
    rows = [{"a": value, "b": 1} for value in values]
    written = [row["a"] for row in csv.DictReader(io.StringIO(format_table(["a"], rows)))]
    assert written == ["'=1+1", "'@x", "'+a", "-1", "-0.5", "[1, 2]", "a\nb", "'-a"]


@pytest.mark.parametrize(
    "attack",
    [
        "import os",
        "import torch, sys",
        "from copylab import quiz",
        "import copylab.quiz as torch",
        "__import__('os').system('true')",
        "eval('1')",
        "if False:\n    eval = 1\neval('1')",
        "def exec(x): pass",
        "open('a', 'w')",
        "x.__class__.__eq__ = lambda a, b: True",
        "().__class__.__base__.__subclasses__()",
        "class All:\n    def __eq__(self, other): return True",
        "torch.Tensor.grad = 12",
        "T = torch.Tensor\nT.grad = 12",
        "L = [torch.nn.Linear][0]\nL.weight = 1",
        "t = torch\nt.clone = None",
        "torch.clone = None",
        "torch = None",
        "def f(torch): pass",
        "for np in []: pass",
        "del torch.clone",
        "torch.viz.snapshot",
        "np.load('a')",
        "np.lib.format.open_memmap('a')",
        "copy.copyreg.pickle(list, len)",
        "f'{x.__class__}'",
        "'{0.__class__}'.format(x)",
        "getattr(x, 'a')",
        "setattr(x, 'a', 1)",
        "globals()['kept'] = 1",
        "f = lambda: 1\nf.__code__ = None",
        "try:\n    x\nexcept Exception as e:\n    pass",
        "@torch.no_grad()\ndef f(): pass",
        "async def f(): pass",
        "x = (y for y in [1])\nx.gi_frame.f_back",
        "print(x.zero_().__class__)",
        "[" * 5000,
        "x = 1\n" * 5000,
        "x = '\0'",
    ],
)
def test_what_could_take_hold_of_a_check_is_not_run(attack: str) -> None:
    try:
        program = make_plain(attack)
    except (ValueError, SyntaxError):
        return
    pytest.fail(f"it would be run: {program}")


def test_the_answers_of_all_lessons_are_plain_programs() -> None:
    for exercise in list_exercises().values():
        for code in (exercise.start, exercise.code, *exercise.also, *exercise.wrong):
            assert make_plain(code)
    assert make_plain("import torch\nx = torch.ones(2)\nmemory(x=x)\nprint(x)") == (
        "x = torch.ones(2)"
    )
    assert make_plain("def f(t: torch.Tensor) -> torch.Tensor:\n    return t").startswith(
        "def f(t)"
    )
    assert make_plain("print(x.zero_())"), "it does more than look"


def test_an_answer_is_judged_as_its_lesson_judges_it() -> None:
    exercise = list_exercises()["clone/both"]
    for code in (exercise.code, *exercise.wrong):
        verdict = exercise.judge_cell(f"{exercise.start}\n{make_plain(code)}", tinytorch)
        assert (verdict.state == "right") == (code == exercise.code), code
        assert exercise.wrong.get(code, "") in verdict.says
    assert judge_answer("clone/both", exercise.start).state == "not attempted"
    assert judge_answer("clone/both", "a = (").state == "wrong"
    assert judge_answer("clone/both", "import os").state == "by hand"
    assert exercise.judge_cell("a = 1\nc = a.b", tinytorch).state != "right"


@pytest.mark.slow
def test_an_answer_is_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    exercise = list_exercises()["clone/both"]
    solved = f"{exercise.start}\n{exercise.code}\nprint('right')"
    assert judge_answer("clone/both", solved) == Judgement(
        "right", "the gradient passed through the clone on its way to `a`, and was kept there, too."
    )
    folder = tmp_path / "submitted" / "Ada"
    folder.mkdir(parents=True)
    notebook: Any = read_notebook(lessons_folder() / "02_clone.ipynb")
    for cell in notebook["cells"]:
        # What a learner can do to copylab in the notebook has no part in it.
        if "check" in "".join(cell["source"]):
            cell["source"] = "both.check = readings.check = lambda: True"
    answers = [cell for cell in notebook["cells"] if "answer" in cell["metadata"].get("tags", ())]
    answers[1]["source"] = solved
    (folder / "02_clone (1).ipynb").write_text(json.dumps(notebook))
    grade_class(tmp_path)
    (grade,) = read_table(tmp_path / "grades.csv")
    assert (grade["exercises_right"], grade["exercises_of"]) == ("1", "2")
