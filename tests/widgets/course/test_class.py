"""A class: an exam for each, read and judged; answers that no process of ours may believe."""

from __future__ import annotations

import builtins
import csv
import io
import itertools
import json
import random
import subprocess
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from copylab.course import command, exam, judging
from copylab.course.exam import read_key, read_learners, write_exam
from copylab.course.judging import Judgement, judge_answer, judge_answers
from copylab.course.lesson import lessons_folder, read_notebook
from copylab.course.plain_answers import list_exercises, make_plain
from copylab.course.reading import list_course, read_submission
from copylab.course.submissions import grade_class
from copylab.course.tables import decode_table, encode_table, format_table
from copylab.quiz import MISCONCEPTIONS, choose_misconceptions, draw_exam
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
        if cell["id"] == f"answer-{number}" and int(number) in answers:
            cell["source"] = f"answer_{number} = {answers[int(number)]}"
    target = folder / "submitted" / learner
    target.mkdir(parents=True)
    (target / "exam.ipynb").write_text(json.dumps(notebook), "utf-8")


def test_an_exam_asks_all_the_same_beliefs_in_programs_of_their_own() -> None:
    misconceptions = choose_misconceptions(MISCONCEPTIONS.values(), 7, 12)
    assert len({one.name for one in misconceptions}) == 12
    assert misconceptions == choose_misconceptions(reversed(MISCONCEPTIONS.values()), 7, 12)
    assert misconceptions != choose_misconceptions(MISCONCEPTIONS.values(), 8, 12)
    ada, bob = (
        draw_exam(misconceptions, tinytorch, seed=7, learner=name) for name in ("Ada", "Bob")
    )
    again = draw_exam(misconceptions, tinytorch, seed=7, learner="Ada")
    assert [one.code for one in ada] == [one.code for one in again]
    assert not {one.code for one in ada} & {one.code for one in bob}
    assert [one.misconception.name for one in ada] != [one.misconception.name for one in bob]
    assert {one.misconception.name for one in ada} == {one.misconception.name for one in bob}
    for asked in ada:
        (believed,) = asked.drawn.question.wrong
        assert asked.judge_answer(asked.right_answer).state == "right"
        assert asked.judge_answer(believed) == ("wrong", asked.misconception.name)
        assert asked.judge_answer(" ").state == "empty"
        if asked.drawn.question.bound_choices:
            assert asked.judge_answer("[9").state == "unclear"


def test_no_answer_is_right_for_saying_nothing() -> None:
    misconceptions = choose_misconceptions(MISCONCEPTIONS.values(), 1, 100)
    asked_for_names = 0
    for asked in draw_exam(misconceptions, tinytorch, seed=1):
        for nothing in ("?", "...", "42?", "and", "# later", "\ubaa8\ub984"):
            assert asked.judge_answer(nothing).state != "right", (
                asked.drawn.question.text,
                nothing,
            )
        if asked.drawn.question.text.startswith("Which") and asked.right_answer != "none":
            for doubt in ("!{}", "~{}", "\u00ac{}", "{}?", "{}\uff1f"):
                assert asked.judge_answer(doubt.format(asked.right_answer)).state == "unclear", (
                    doubt
                )
        if asked.right_answer == "none":
            asked_for_names += 1
            for none in ("none", "[]", "()", "\u6ca1\u6709"):
                assert asked.judge_answer(none).state == "right", none
    assert asked_for_names


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
    assert grades["Zoe"]["remarks"] == "nothing was handed in; no exam was written for this name"
    ada = grades["Ada"]
    assert (ada["exercises_of"], ada["predictions_committed"]) == ("0", "1")
    assert (
        ada["remarks"] == "02_clone.ipynb cannot be read; exam.ipynb: cells that cannot be read: 1"
    )
    rows = read_table(tmp_path / "answers.csv")
    states = [row["state"] for row in rows if row["learner"] == "김민수"]
    assert states[:2] == ["right", "right"]
    assert states[3] == "empty"
    assert states[2] in ("wrong", "unclear")
    assert "'=HYPERLINK(1)" in (tmp_path / "answers.csv").read_text("utf-8")
    noted = [row for row in rows if row["from"] == "copylab-progress.json"]
    fields = ("learner", "key", "title", "kind", "hints")
    assert [tuple(row[field] for field in fields) for row in noted] == [
        ("Ada", "clone/both", "Exercise 2: a clone with a gradient", "exercise", "2"),
        ("Ada", "=1+1", "", "prediction", ""),
    ]


def test_only_what_was_answered_is_drawn_and_the_tables_are_as_if_all_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_exam(tmp_path, learners=NAMES, seed=3, count=2, exercises=1)
    hand_in(tmp_path, "Ada", {1: "'no'", 2: "' '"})
    drawn: list[str] = []
    steps: list[tuple[int, int]] = []
    for kind, (draw, write) in exam._KINDS.items():

        def draw_and_count(*task: Any, draw: Callable[..., Any] = draw) -> Any:
            drawn.append(task[0].name)
            return draw(*task)

        monkeypatch.setitem(exam._KINDS, kind, exam._Kind(draw_and_count, write))
    grade_class(tmp_path, lambda *step: steps.append(step))
    asked = [row["belief"] for row in read_table(tmp_path / "exam_key.csv")]
    # The cell of the exercise was handed in as it stood.
    assert drawn == [asked[2], asked[0]]
    assert steps == [(done, 6) for done in range(1, 7)]
    rows = read_table(tmp_path / "answers.csv")
    assert [row["state"] for row in rows][1:3] == ["empty", "not attempted"]
    key = read_key(SafeFolder(tmp_path))
    assert key is not None
    right = [
        task.drawn_task.right_answer for learner in sorted(NAMES) for task in key.tasks[learner]
    ]
    assert [row["expected"] for row in rows] == right
    assert len(drawn) == 2 + len(rows)


def test_how_far_it_is_stands_on_a_terminal_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command._show_progress(1, 3)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    command._show_progress(1, 3)
    command._show_progress(3, 3)
    assert capsys.readouterr().err == f"\r33 % is done.\r{' ' * 14}\r"


def test_exercises_of_an_exam_are_run_and_judged(tmp_path: Path) -> None:
    write_exam(tmp_path, ["clone"], learners=NAMES, seed=3, count=1, exercises=3)
    key = read_table(tmp_path / "exam_key.csv")
    assert [row["kind"] for row in key] == ["question", *["exercise"] * 3] * 3
    programs = {row["program"] for row in key}
    assert len(programs) == len(key)

    def hand_in_cells(learner: str, of: str, change: Callable[[dict[str, Any]], object]) -> None:
        notebook = read_notebook(tmp_path / "exam" / of / "exam.ipynb")
        for cell in notebook["cells"]:
            change(cell)
        target = tmp_path / "submitted" / learner
        target.mkdir(parents=True)
        (target / "exam.ipynb").write_text(json.dumps(notebook), "utf-8")

    right = {row["number"]: row["answer"] for row in key if row["learner"] == "Ada"}

    def solve(cell: dict[str, Any]) -> None:
        kind, _, number = cell.pop("id").partition("-")
        # Without ids, a cell is known by the mark.
        if kind == "exercise" and number == "2":
            cell["source"] = f"{right['2']}  # exercise 2"
        if kind == "exercise" and number == "3":
            cell["source"] += "\nimport os"

    hand_in_cells("Ada", "Ada", solve)
    hand_in_cells("김민수", "Ada", lambda cell: cell)
    grade_class(tmp_path)
    rows = read_table(tmp_path / "answers.csv")
    states = {
        name: [row["state"] for row in rows if row["learner"] == name and row["kind"] == "exercise"]
        for name in NAMES
    }
    assert states["Ada"] == ["right", "by hand", "not attempted"], [row["says"] for row in rows]
    assert states["김민수"] == ["wrong"] * 3
    assert states["王 芳"] == ["missing"] * 3
    grades = {row["learner"]: row for row in read_table(tmp_path / "grades.csv")}
    assert (grades["Ada"]["exercises_right"], grades["Ada"]["exercises_of"]) == ("1", "3")
    assert grades["김민수"]["remarks"] == "this is the exam of Ada"
    expected = [row["expected"] for row in rows if row["learner"] == "Ada"]
    assert expected == list(right.values())


def test_answers_are_read_in_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    reading = 0
    most = 0

    def count_readers(source: str) -> str:
        nonlocal reading, most
        reading += 1
        most = max(most, reading)
        time.sleep(0.01)  # the others get their turn
        reading -= 1
        raise ValueError(source)

    monkeypatch.setattr(judging, "make_plain", count_readers)
    learners = [[("clone/both", f"c = {number}")] for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        verdicts = list(pool.map(judge_answers, learners))
    assert {verdict.state for one in verdicts for verdict in one.values()} == {"by hand"}
    assert most == 1, "of two that read at once, one ended in SystemError"


def test_an_exam_is_not_written_over_and_its_key_is_of_this_edition(tmp_path: Path) -> None:
    write_exam(tmp_path, ["clone"], count=50)
    assert (tmp_path / "exam" / "exam.ipynb").is_file()
    key = read_key(SafeFolder(tmp_path))
    assert key is not None
    asked = {question.misconception.name for question in key.tasks[""]}
    assert {"in place fails on a clone", "clone cuts the graph"} <= asked, "one is the lesson's own"
    with pytest.raises(ValueError, match="an exam in this folder already"):
        write_exam(tmp_path)
    with pytest.raises(ValueError, match="Nothing was handed in"):
        grade_class(tmp_path)
    (tmp_path / "submitted" / "Ada").mkdir(parents=True)
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
    lines = tmp_path / "names.txt"
    lines.write_text("Lovelace, Ada\n  Bob \n", "utf-16")
    assert read_learners(lines) == ["Lovelace, Ada", "Bob"]
    file.write_text('"Lovelace, Ada",1\nBob,2\n')
    assert read_learners(file) == ["Lovelace, Ada", "Bob"]
    for text, why in (
        ("a\na", "twice"),
        ("Ada\nada", "twice"),
        ("\uae40\n\u1100\u1175\u11b7", "twice"),
        ("../a", "cannot be the name of a folder"),
        ("con.txt", "cannot be the name of a folder"),
        ("a.", "cannot be the name of a folder"),
        ("\u738b" * 70, "cannot be the name of a folder"),
        ("", "has 0 names"),
    ):
        lines.write_text(text, "utf-8")
        with pytest.raises(ValueError, match=why):
            read_learners(lines)
    lines.write_bytes("\uae40".encode("cp949"))
    with pytest.raises(ValueError, match="store it as UTF-8"):
        read_learners(lines)
    with pytest.raises(ValueError, match=r"none\.txt cannot be read: No such file"):
        read_learners(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="at least one question"):
        write_exam(tmp_path / "none", count=0)


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
    values = ["=1+1", "@x", "+a", "-1", "-0.5", "[1, 2]", "a\nb", "-a", " =1", "\uff1d1", "a;=1"]
    rows = [{"a": value, "b": 1} for value in values]
    written = [row["a"] for row in csv.DictReader(io.StringIO(format_table(["a"], rows)))]
    assert written == (
        ["'=1+1", "'@x", "'+a", "-1", "-0.5", "[1, 2]", "a\nb", "'-a", " '=1", "'\uff1d1", "a;'=1"]
    )


def test_no_cell_is_a_formula_wherever_a_table_is_opened_and_each_is_read_back() -> None:
    # By another sign than the comma: quotation marks do not begin a cell then, and hold nothing.
    draw = random.Random(4)
    letters = "=+-@\uff1d\uff0b\uff0d\uff20;\t\n '\",a1."
    for _ in range(2000):
        names = ["".join(draw.choices(letters, k=draw.randint(0, 6))) for _ in "abc"]
        row = {"learner": "Ada"} | dict(zip("abc", names, strict=True))
        table = encode_table(list(row), [row])
        assert decode_table(table) == [row]
        for delimiter in ",;\t":
            opened = csv.reader(io.StringIO(table.decode("utf-8-sig")), delimiter=delimiter)
            for cell in itertools.chain.from_iterable(opened):
                text = cell.strip()
                is_number = not set(text[1:]) - set("1.,")
                is_formula = text.startswith(tuple("=+-@\uff1d\uff0b\uff0d\uff20"))
                assert not is_formula or is_number, (row, delimiter)
    stored = encode_table(["a", "b"], [{"a": "\u738b", "b": "=x"}])
    assert decode_table(stored.replace(b",", b";")) == [{"a": "\u738b", "b": "=x"}]


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


def test_the_answers_of_all_lessons_are_plain_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    # As at a prompt, which keeps its latest value there.
    monkeypatch.setattr(builtins, "_", 5, raising=False)
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
        words = exercise.wrong.get(code, "")
        assert words.replace("`", "") in verdict.says.replace("`", "")
    assert judge_answer("clone/both", exercise.start).state == "not attempted"
    assert judge_answer("clone/both", "a = (").state == "wrong"
    assert judge_answer("clone/both", "import os").state == "by hand"
    assert exercise.judge_cell("a = 1\nc = a.b", tinytorch).state != "right"


@pytest.mark.slow
def test_an_answer_is_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    exercise = list_exercises()["clone/both"]
    solved = f"{exercise.start}\n{exercise.code}\nprint('right')"
    assert judge_answer("clone/both", solved) == Judgement(
        "right", "the gradient passed through `c` on its way to `a`, and was kept there, too."
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


# -- what learners hand in -----------------------------------------------------------


def write_notebook(file: Path, *cells: tuple[str, Any], ids: bool = True) -> None:
    """Write a notebook of these cells of code, by id."""
    file.parent.mkdir(parents=True, exist_ok=True)
    made = []
    for cell_id, source in cells:
        cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}
        made.append(cell | ({"id": cell_id} if ids else {}))
    file.write_text(json.dumps({"cells": made}), "utf-8")


def grade(folder: Path) -> dict[str, dict[str, str]]:
    """Grade a class, and return its grades by learner."""
    grade_class(folder)
    return {row["learner"]: row for row in read_table(folder / "grades.csv")}


def test_names_that_a_table_or_a_system_writes_in_another_way(tmp_path: Path) -> None:
    names = ["=SUM(1)", "김민수", "Ada Lovelace", "'=x"]
    write_exam(tmp_path, learners=names, count=1)
    key = {row["learner"]: row["answer"] for row in read_table(tmp_path / "exam_key.csv")}
    assert list(key) == names
    folders = ["=SUM(1)", unicodedata.normalize("NFD", "김민수"), "'=x", "Bob"]
    folders.append("Ada Lovelace_4711_assignsubmission_file_")
    for name, folder in zip([*names[:2], names[3], "Bob", names[2]], folders, strict=True):
        answer = f"answer_1 = {key.get(name, '')!r}"
        write_notebook(tmp_path / "submitted" / folder / "exam.ipynb", ("answer-1", answer))
    # What was handed in a second time, into a folder of its own, counts once.
    again = tmp_path / "submitted" / "Ada Lovelace_12_assignsubmission_onlinetext_"
    write_notebook(again / "notes.ipynb", ("a", "answer_1 = ''"))
    (tmp_path / "submitted" / ".ipynb_checkpoints").mkdir()
    (tmp_path / "submitted" / "__MACOSX").mkdir()
    (tmp_path / "submitted" / "lost.ipynb").write_text("{}")
    grades = grade(tmp_path)
    assert {name: row["exam_right"] for name, row in grades.items()} == (
        dict.fromkeys(names, "1") | {"Bob": "0"}
    )
    assert grades["Ada Lovelace"]["exam_of"] == "1"
    assert grades["Ada Lovelace"]["remarks"] == "there are several folders of this name"
    assert grades["Bob"]["remarks"] == "no exam was written for this name"
    assert "1 file is in `submitted` itself" in " ".join(grade_class(tmp_path)[1])


@pytest.mark.parametrize(
    ("source", "read"),
    [
        ('answer_1 = "yes"', ["yes"]),
        ("# at the end\nanswer_1 = 'yes'", ["yes"]),
        ("answer_1 = yes  # sure", ["yes"]),
        ("answer_1 = \u201cyes\u201d", ["yes"]),
        ("answer_1 \uff1d yes", ["yes"]),
        ('answer_1: str = "yes"', ["yes"]),
        ('answer_1 = "yes"\nprint(answer_1)', ["yes"]),
        ("answer_1 = True", [True]),
        ("answer_1 = [[1, 2],\n  [3, 4]]\n", ["[[1, 2],\n  [3, 4]]"]),
        ('answer_1 = ""', []),
        ("answer_1 = # ?", []),
        ("answer_1 = ", []),
        ("yes", ["yes"]),
        ('ans = "yes"', ['ans = "yes']),
        (["answer_1 = ", '"yes"'], ["yes"]),
        ('answer_1 = ""\nanswer_1 = "no"', ["no"]),
        (f"answer_{'9' * 5000} = 1\nanswer_1 = no", ["no"]),
        ("answer_1 = " + "[" * 100_000, ["[" * (10_000 - len("answer_1 = "))]),
        ("answer_1 = __import__('os').abort()", ["__import__('os').abort()"]),
    ],
)
def test_an_answer_to_an_exam_is_read_as_it_was_meant(
    tmp_path: Path, source: Any, read: list[Any]
) -> None:
    cells = [("answer-1", source), ("answer-2", 'answer_2 = ""')]
    write_notebook(tmp_path / "submitted" / "Ada" / "exam.ipynb", *cells)
    submission = read_submission(SafeFolder(tmp_path), ["Ada"], "Ada", list_course())
    assert submission.exam.get(1, []) == read
    assert submission.exam[2] == []
    assert submission.remarks == []


def test_a_cell_that_is_none_takes_no_other_along(tmp_path: Path) -> None:
    file = tmp_path / "submitted" / "Ada" / "exam.ipynb"
    write_notebook(file, ("a", 1), ("b", ["answer_1 = 1", 2]), ("c", 'answer_2 = "no"'))
    notebook = json.loads(file.read_text())
    notebook["cells"] += [7, None, {"cell_type": "code"}, {"source": "x", "metadata": 3}]
    # What is wrong around a source is no fault of its answer.
    notebook["cells"].append(
        {"cell_type": "code", "source": "answer_3 = 3", "metadata": {"nbgrader": 1}}
    )
    file.write_text(json.dumps(notebook))
    submission = read_submission(SafeFolder(tmp_path), ["Ada"], "Ada", list_course())
    assert submission.exam == {2: ["no"], 3: ["3"]}
    assert submission.remarks == ["exam.ipynb: cells that cannot be read: 6"]


def test_two_answers_and_the_exam_of_another_are_for_the_teacher_to_see(tmp_path: Path) -> None:
    write_exam(tmp_path, learners=["Ada", "Bob"], count=2)
    key = read_table(tmp_path / "exam_key.csv")
    right = {row["number"]: repr(row["answer"]) for row in key if row["learner"] == "Ada"}
    hand_in(tmp_path, "Ada", {1: right["1"], 2: right["2"]})
    ada = tmp_path / "submitted" / "Ada"
    # A copy as it was handed out changes nothing; one with another answer does.
    (ada / "exam-Copy1.ipynb").write_bytes((tmp_path / "exam" / "Ada" / "exam.ipynb").read_bytes())
    assert grade(tmp_path)["Ada"]["exam_right"] == "2"
    write_notebook(ada / "exam-Copy2.ipynb", ("answer-2", "answer_2 = 'something else'"))
    bob = tmp_path / "submitted" / "Bob"
    bob.mkdir()
    (bob / "exam.ipynb").write_bytes((ada / "exam.ipynb").read_bytes())
    grades = grade(tmp_path)
    assert (grades["Ada"]["exam_right"], grades["Ada"]["by_hand"]) == ("1", "1")
    assert (grades["Bob"]["exam_right"], grades["Bob"]["by_hand"]) == ("0", "2")
    assert grades["Bob"]["remarks"] == "this is the exam of Ada"


def test_a_folder_that_cannot_be_read_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_exam(tmp_path, learners=["Ada", "Bob"], count=1)
    (row, _) = read_table(tmp_path / "exam_key.csv")
    for name in ("Ada", "Bob"):
        hand_in(tmp_path, name, {1: repr(row["answer"])})
    walk = SafeFolder.walk

    def refuse(self: SafeFolder, folder: str = "", depth: int = 6) -> Iterator[str]:
        yield from walk(self, folder, depth)
        if folder.endswith("Bob"):
            raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(SafeFolder, "walk", refuse)
    grades = grade(tmp_path)
    assert grades["Ada"]["exam_right"] == "1"
    assert grades["Bob"]["remarks"] == "submitted/Bob: Permission denied"


def test_no_process_for_an_answer_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(subprocess, "run", refuse)
    verdict = judge_answer("clone/both", "a = 1\nc = 2\nout = 3")
    assert verdict.state == "by hand"
    assert "Resource temporarily unavailable" in verdict.says


@pytest.mark.slow
def test_a_learner_may_hold_up_a_class_for_two_answers_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(judging, "SECONDS", 1)
    # One step without an end: nothing in the process can end it.
    endless = [("clone/both", f"a = sum(range({number} * 10**12))") for number in range(1, 8)]
    states = [verdict.says for verdict in judge_answers(endless).values()]
    assert states[:2] == ["It did not finish within 1 seconds."] * 2
    assert states[2:] == ["It was not run: 2 others did not finish."] * 5


def test_what_only_a_notebook_knows_is_for_the_teacher_to_see() -> None:
    for source, word in (("%time a = 1", "%time"), ("!ls", "!ls"), ("a = helper(1)", "helper")):
        verdict = judge_answer("clone/both", source)
        assert verdict.state == "by hand", source
        assert word in verdict.says


def read_cells(folder: Path) -> list[str]:
    """Return what is judged as an answer to the second exercise of the lesson on clone."""
    submission = read_submission(SafeFolder(folder), ["Ada"], "Ada", list_course())
    return submission.cells.get(("02_clone", "clone/both"), [])


def test_an_answer_to_an_exercise_is_found_in_what_editors_and_learners_make_of_a_lesson(
    tmp_path: Path,
) -> None:
    ada = tmp_path / "submitted" / "Ada"
    head = ("import-tools", "from copylab.lessons.clone import apart, both, joined, readings, rest")
    answer, check = ("answer-2", "c = a.clone()"), ("check-2", "both.check()")
    own = ("f00", "c.retain_grad()")
    made: list[tuple[str, list[tuple[str, str]], bool, list[str]]] = [
        ("02_clone.ipynb", [answer, check], True, [answer[1]]),
        ("homework of Ada.ipynb", [head, answer, check], True, [answer[1]]),
        # Of the format before 4.5, an editor keeps no ids.
        ("02_clone.ipynb", [head, answer, check], False, [answer[1]]),
        # A cell of the learner's own between the answer and the check.
        ("02_clone.ipynb", [answer, own, check], True, [answer[1], f"{answer[1]}\n{own[1]}"]),
        # The check is gone, or is another's.
        ("02_clone.ipynb", [answer, ("check-2", "both.check = print")], True, [answer[1]]),
        ("02_clone.ipynb", [check], False, []),
        # A notebook of solutions.
        ("02_clone.ipynb", [head, ("start-both", ""), own, check], True, []),
        ("solutions/02_clone.ipynb", [head, answer, check], True, []),
        ("03_detach.ipynb", [answer], True, []),
        ("other.ipynb", [answer], True, []),
    ]
    for name, cells, ids, found in made:
        write_notebook(ada / name, *cells, ids=ids)
        assert read_cells(tmp_path) == found, (name, cells)
        (ada / name).unlink()
    write_notebook(ada / "02_clone (1).ipynb", answer, check)
    write_notebook(ada / "02_clone.ipynb", ("answer-2", "c = None"), check)
    assert read_cells(tmp_path) == [answer[1], "c = None"]


def test_the_whole_folder_of_a_course_brings_no_points(tmp_path: Path) -> None:
    ada = tmp_path / "submitted" / "Ada"
    (ada / "solutions").mkdir(parents=True)
    for name in ("02_clone.ipynb", "solutions/02_clone.ipynb"):
        (ada / name).write_bytes((lessons_folder() / name).read_bytes())
    row = grade(tmp_path)["Ada"]
    assert (row["exercises_right"], row["exercises_of"], row["remarks"]) == ("0", "2", "")
