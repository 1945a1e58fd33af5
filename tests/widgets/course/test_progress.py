"""The progress file: one JSON of the learner's own, never lost, never in the way."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from copylab import predict
from copylab.course.layout import lay_out
from copylab.course.overview import load_course, progress
from copylab.lessons.clone import apart
from copylab.questions import value
from copylab.quiz import Exercise
from copylab.quiz.answers import format_answer
from copylab.quiz.prediction import retest
from copylab.quiz.progress import add_note, find_note, find_progress_file, load_notes, load_seed
from copylab.wording import set_language

import tinytorch
from tinytorch.viz import text_width

JOINED, BOTH = "A clone, two gradients", "Exercise 2: a clone with a gradient"
EMPTY: dict[str, dict[str, object]] = {
    kind: {} for kind in ("predictions", "exercises", "misconceptions", "recalls")
}


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "deep" / "kept.json"))
    return tmp_path / "deep" / "kept.json"


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    assert find_progress_file() == file
    monkeypatch.delenv("COPYLAB_PROGRESS")
    assert find_progress_file() is None
    course = file.parent / "course"
    (course / "solutions").mkdir(parents=True)
    (course / ".copylab.json").write_text("{}", "utf-8")
    for folder in (course, course / "solutions"):
        monkeypatch.chdir(folder)
        assert find_progress_file() == Path("copylab-progress.json")
    (course / ".copylab.json").rename(course / "elsewhere.json")
    (course / ".copylab.json").symlink_to("elsewhere.json")
    assert find_progress_file() is None


def test_a_view_that_cannot_follow_costs_no_answer_and_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A fault of ours there was silent."""

    def fail() -> None:
        raise ValueError("no table")

    monkeypatch.setattr("copylab.quiz.progress._followers", {"here": fail})
    with pytest.warns(UserWarning, match=r"could not be renewed \(ValueError: no table\)"):
        add_note("exercises", "clone/readings", {"state": "right"})
    assert find_note("exercises", "clone/readings") == {"state": "right"}


def test_outside_of_a_course_folder_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COPYLAB_PROGRESS")
    monkeypatch.setattr("copylab.quiz.progress._notes_of_process", {kind: {} for kind in EMPTY})
    monkeypatch.chdir(tmp_path)
    add_note("exercises", "clone/readings", {"state": "wrong"})
    add_note("exercises", "clone/readings", {"hints": 2})
    assert find_note("exercises", "clone/readings") == {"state": "wrong", "hints": 2}, (
        "but it is known in this process"
    )
    assert "… begun, not solved yet, 2 hints" in progress("clone").text
    load_notes()["exercises"]["clone/readings"]["state"] = "right"
    assert find_note("exercises", "clone/readings")["state"] == "wrong"
    assert list(tmp_path.iterdir()) == []
    lay_out(tmp_path / "course")
    monkeypatch.chdir(tmp_path / "course" / "solutions")
    add_note("exercises", "clone/readings", {"state": "right"})
    assert Path("copylab-progress.json").is_file()


def test_a_current_folder_that_was_removed_is_none_of_a_course(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COPYLAB_PROGRESS")
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert find_progress_file() is None


def test_looking_writes_nothing(file: Path) -> None:
    assert load_notes() == EMPTY
    assert find_note("exercises", "a/b") == {}
    assert progress().text.startswith("Progress: 0 of ")
    assert not file.parent.exists()


def test_notes_are_kept_and_updated(file: Path) -> None:
    add_note("exercises", "clone/one", {"state": "wrong"})
    add_note("exercises", "clone/one", {"hints": 2})
    add_note("predictions", "clone/read", {"right": 7, "of": 9})
    add_note("predictions", None, {"right": 1, "of": 1})
    assert find_note("exercises", "clone/one") == {"state": "wrong", "hints": 2}
    kept = json.loads(file.read_text("utf-8"))
    assert 0 < load_seed() == kept.pop("seed"), "drawn once"
    assert kept == {
        "version": 1,
        "predictions": {"clone/read": {"right": 7, "of": 9}},
        "exercises": {"clone/one": {"state": "wrong", "hints": 2}},
        "misconceptions": {},
        "recalls": {},
    }
    assert [p.name for p in file.parent.iterdir()] == [file.name]


WRONG = ["1", '{"hints": "2"}', '{"state": []}', '{"right": null}', '{"in": {}}']


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        '{"exercises": 3}',
        *(f'{{"exercises": {{"a": {one}}}}}' for one in WRONG),
        "\x00",
        '{"a": NaN',
    ],
)
def test_a_broken_file_is_set_aside_and_said(file: Path, text: str) -> None:
    file.parent.mkdir()
    for name in ("kept.json.broken", "kept.json.broken2"):
        file.write_text(text, "utf-8")
        with pytest.warns(UserWarning, match=f"kept as {name}$"):
            add_note("exercises", "k", {"state": "right"})
        assert (file.parent / name).read_text("utf-8") == text
        assert find_note("exercises", "k") == {"state": "right"}


def test_bytes_that_are_no_text(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.warns(UserWarning, match=r"kept as kept\.json\.broken"):
        assert load_notes() == EMPTY
    assert (file.parent / "kept.json.broken").read_bytes() == b"\xff\xfe\x00"


def test_a_folder_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "plain").write_text("a file, no folder")
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "plain" / "kept.json"))
    with pytest.warns(UserWarning, match="this is not kept"):
        add_note("exercises", "k", {"state": "right"})


def test_links_are_set_aside_and_neither_read_nor_written_through(
    file: Path, tmp_path: Path
) -> None:
    file.parent.mkdir()
    other = tmp_path / "other.json"
    other.write_text('{"predictions": {"mine": {"answer": 1}}}')
    for name in (file, file.with_name(".kept.json.part")):
        name.symlink_to(other)
    with pytest.warns(UserWarning, match=r"kept as kept\.json\.broken"):
        add_note("exercises", "k", {"state": "right"})
    assert load_notes()["predictions"] == {}
    assert find_note("exercises", "k") == {"state": "right"}
    assert other.read_text() == '{"predictions": {"mine": {"answer": 1}}}'
    assert not file.is_symlink()
    assert file.with_name("kept.json.broken").is_symlink()


@pytest.mark.skipif(sys.platform == "win32", reason="has no such pipes")
def test_a_pipe_is_not_read_for_ever_and_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.parent.mkdir()
    os.mkfifo(file)
    link = file.with_name("link.json")  # as /dev/stdout is one
    link.symlink_to(file)
    for name in (file, link):
        monkeypatch.setenv("COPYLAB_PROGRESS", str(name))
        with pytest.warns(UserWarning, match="cannot be read"):
            assert load_notes() == EMPTY
        with (
            pytest.warns(UserWarning, match="cannot be read"),
            pytest.warns(UserWarning, match="this is not kept"),
        ):
            add_note("exercises", "k", {"state": "right"})
    assert file.is_fifo()
    assert link.is_symlink()
    assert len(list(file.parent.iterdir())) == 2


def test_a_file_that_is_too_large_is_set_aside(file: Path) -> None:
    file.parent.mkdir()
    with file.open("wb") as sparse:
        sparse.truncate(10**12)
    with pytest.warns(UserWarning, match=r"kept as kept\.json\.broken"):
        add_note("exercises", "k", {"state": "right"})
    assert find_note("exercises", "k") == {"state": "right"}
    assert file.with_name("kept.json.broken").stat().st_size == 10**12


def test_half_a_character_and_depth(file: Path) -> None:
    add_note("exercises", "k", {"state": "\ud800"})
    assert find_note("exercises", "k") == {"state": "\ud800"}
    file.write_text("[" * 100_000, "utf-8")
    with pytest.warns(UserWarning, match="kept as"):
        assert load_notes() == EMPTY


def test_a_full_disk_leaves_what_was_there(file: Path) -> None:
    add_note("exercises", "k", {"state": "right"})
    before = file.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    was = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limit[1]))
        with pytest.warns(UserWarning, match="this is not kept"):
            add_note("exercises", "other", {"state": "x" * 10_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, was)
    assert file.read_bytes() == before
    assert [p.name for p in file.parent.iterdir()] == [file.name]


ENDLESS = """
from copylab.quiz.progress import add_note
print("begun", flush=True)
while True:
    add_note("exercises", "long", {"state": "x" * 100_000})
"""


def test_a_kernel_that_is_killed_loses_nothing_and_holds_nobody_up() -> None:
    add_note("exercises", "k", {"state": "right"})
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    for trial in range(int(os.environ.get("COPYLAB_TRIALS", "5"))):
        one = subprocess.Popen(
            [sys.executable, "-c", ENDLESS], env=environment, stdout=subprocess.PIPE
        )
        assert one.stdout is not None
        one.stdout.readline()
        time.sleep(0.003 * (trial % 30))
        one.kill()
        one.wait()
        one.stdout.close()
        began = time.monotonic()
        add_note("exercises", f"after/{trial}", {"state": "right"})
        assert time.monotonic() - began < 2
        assert find_note("exercises", "k") == {"state": "right"}
        assert (
            len([key for key in load_notes()["exercises"] if key.startswith("after")]) == trial + 1
        )


WRITE = """
from copylab.quiz.progress import add_note
for number in range({first}, {first} + 20):
    add_note("exercises", f"k/{{number}}", {{"state": "right"}})
"""


def test_two_kernels_lose_nothing_of_each_other() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    commands = [[sys.executable, "-c", WRITE.format(first=first)] for first in (0, 20)]
    both = [subprocess.Popen(command, env=environment) for command in commands]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(load_notes()["exercises"]) == 40


def test_the_course_is_in_its_order() -> None:
    found = {lesson.name: lesson for lesson in load_course()}
    assert list(found)[:3] == ["00_start", "01_assignment", "02_clone"]
    clone = found["02_clone"]
    assert clone.title == "clone: what still joins the two?"
    assert list(clone.tasks) == [
        *("clone/apart", "clone/joined", "clone/rest"),
        *("clone/readings", "clone/both"),
    ]
    assert clone.title_of_task("clone/both") == "Exercise 2: a clone with a gradient"
    assert clone.tasks["clone/both"].title == "Exercise 2", "above the task itself"
    assert (
        found["14_clinic"].title_of_task("clinic/optimizer") == "Patient 9: the loss doesn't fall"
    )


def test_no_exercise_goes_by_its_number_alone() -> None:
    known: list[set[str]] = []
    for language in (None, "zh", "ko"):
        set_language(language)
        titles = [
            task.title_in_table
            for lesson in load_course()
            for task in lesson.tasks.values()
            if isinstance(task, Exercise)
        ]
        names = [re.split("[:\uff1a] ?", title, maxsplit=1)[1] for title in titles]
        assert len(set(names)) == len(names) == 48
        assert max(map(text_width, titles)) <= 480, "px"
        known.append(set(names))
    english, *translated = known
    assert all(english.isdisjoint(names) for names in translated)


def lines(text: str) -> list[str]:
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_course_lesson_by_lesson() -> None:
    empty = progress()
    add_note("exercises", "clone/readings", {"state": "right", "hints": 1})
    add_note("exercises", "clone/both", {"state": "wrong", "hints": 0, "solution": True})
    add_note("predictions", "clone/joined", {"right": 4, "of": 6})
    add_note("predictions", "mine/<b>", {"right": 1, "of": 1})
    add_note("exercises", "alone", {"state": "wrong"})
    seen = progress()
    assert "clone: what still joins the two? 1 of 3 1 of 2" in lines(seen.text)
    assert len(seen.rows()) == len(load_course()) + 2 == len(empty.rows()) + 2
    others = [
        "alone … begun, not solved yet",
        "mine/<b> ✔ committed: 1 of 1 rows right",
        "",
        "No misconception has come up so far.",
    ]
    assert lines(seen.text)[-4:] == others
    kinds = [type(thing).__name__ for lesson in load_course() for thing in lesson.tasks.values()]
    predictions, exercises = (kinds.count(kind) + 1 for kind in ("Prediction", "Exercise"))
    assert (
        seen.summary
        == f"2 of {predictions} predictions committed, 1 of {exercises} exercises solved"
    )
    assert seen.summary in lines(seen.text)[0]
    assert repr(seen) == f"Progress({seen.summary})"
    assert "&lt;b&gt;" in seen.html
    assert seen._repr_mimebundle_()["text/plain"] == seen.text


def test_the_notes_as_a_table_for_a_spreadsheet() -> None:
    add_note("exercises", "clone/both", {"state": "wrong", "hints": 2, "solution": True})
    add_note("predictions", "clone/joined", {"right": 4, "of": 6, "answers": {}})
    add_note("exercises", 'mine, "1"', {"state": "right", "hints": 0})
    assert list(csv.DictReader(io.StringIO(progress().csv))) == [
        dict(
            zip(
                ("lesson", "key", "title", "kind", "state", "right", "of", "hints", "solution"),
                row,
                strict=True,
            )
        )
        for row in (
            ("02_clone", "clone/joined", JOINED, "prediction", "committed", "4", "6", "", ""),
            ("02_clone", "clone/both", BOTH, "exercise", "wrong", "", "", "2", "True"),
            ("", 'mine, "1"', "", "exercise", "right", "", "", "0", ""),
        )
    ]


@pytest.mark.parametrize("name", ["clone", "02_clone", "02"])
def test_one_lesson_by_the_titles_in_it(name: str) -> None:
    add_note("exercises", "clone/readings", {"state": "right", "hints": 1})
    add_note("predictions", "alone", {"right": 1, "of": 2})
    assert lines(progress(name).text) == [
        "Progress: 0 of 3 predictions committed, 1 of 2 exercises solved.",
        "What So far",
        "A clone, one write ○ not yet",
        f"{JOINED} ○ not yet",
        "Four more claims about clones ○ not yet",
        "Exercise 1: three readings of a sensor ✔ solved, 1 hint",
        f"{BOTH} ○ not yet",
        "",
        "No misconception has come up so far.",
    ]
    with pytest.raises(ValueError, match="no lesson 'cloned'"):
        progress("cloned")


def test_a_task_without_a_title_has_the_name_of_its_form() -> None:
    detach = load_course()[3]
    assert detach.title_of_task("detach/cut") == "detach, then backward, then a write"
    alone = replace(detach, tasks={"a": predict("x = 1", [value("x")], key="a")})
    assert alone.title_of_task("a") == "Prediction"
    several = {key: predict("x = 1; y = 2", [value("x")], key=key) for key in "ab"}
    of_teacher = replace(detach, tasks=several)
    assert [of_teacher.title_of_task(key) for key in "ab"] == ["Prediction 1", "Prediction 2"]
    for lesson in load_course():
        assert sum(not task.has_title for task in lesson.tasks.values()) < 2, "numbered"


def test_rows_lead_to_what_is_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "<a " not in progress().html + progress("clone").html, "no notebook is beside it"
    (tmp_path / ".copylab.json").write_text("{}", "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COPYLAB_PROGRESS")
    texts = progress().text, progress("clone").text
    assert '<a href="01_assignment.ipynb"><code>=</code> is no copy</a>' in progress().html
    assert f'<a href="02_clone.ipynb#cell-id=exercise-2">{BOTH}</a>' in progress("clone").html
    assert "Exercise 1: <code>out</code> in percent</a>" in progress("data").html
    monkeypatch.chdir("/")
    assert (progress().text, progress("clone").text) == texts


def test_titles_are_in_the_language_of_the_course() -> None:
    set_language("zh")
    assert [lesson.title for lesson in load_course()][2] != "clone: what still joins the two?"


def test_a_misconception_is_met_and_settled() -> None:
    right = [
        format_answer(question.right_answer(apart.run(tinytorch))) for question in apart.questions
    ]
    wrong = ["yes" if right[0] == "no" else "no", *right[1:]]
    apart.reset()
    (name,) = apart.commit(wrong).misconceptions
    assert find_note("misconceptions", name) == {"state": "met", "in": "clone/apart", "right": 0}
    is_open = f'○ open: `retest("{name}")` asks again'
    assert is_open in progress("clone").text
    assert "No misconception" in progress("detach").text
    apart.reset()
    apart.commit(right)
    assert is_open in progress("clone").text, "the right answer was on the screen"
    answer_rightly(retest(name))
    is_half = f'○ one right, one more program settles it: `retest("{name}")`'
    assert is_half in progress("clone").text
    answer_rightly(retest(name))
    assert "✔ settled by a new program" in progress("clone").text
    apart.reset()
    apart.commit(wrong)
    assert is_open in progress().text, "met again"
    apart.reset()


def answer_rightly(asked: Any) -> None:
    asked.commit([asked.questions[0].right_answer(asked.run())])


def press(view: Any) -> None:
    view._handle_message(None, {"do": "ask again"}, None)


@pytest.mark.parametrize(("lesson", "where"), [("clone", " in this lesson"), (None, "")])
def test_a_button_asks_again_about_what_is_open(lesson: str | None, where: str) -> None:
    """One had to type an import and a long call."""
    names = ["a copy shares memory", "detach copies"]
    for name in names:
        add_note("misconceptions", name, {"state": "met", "in": "clone/seven"})
    add_note("misconceptions", "mine", {"state": "met", "in": "clone/mine"})
    add_note("misconceptions", "a name is a copy", {"state": "settled", "in": "clone/seven"})
    add_note("misconceptions", "a view is a copy", {"state": "settled", "in": "start/bet"})
    shown = progress(lesson)
    view: Any = shown.live()
    assert view.text == shown.text
    assert view.html == shown.html
    for name in names:
        assert f'○ open: `retest("{name}")` asks again' in view.text, "without its buttons"
    assert f">Ask me again about what I got wrong{where}</button>" in view.card.html
    assert "retest(" not in view.card.html
    assert len(view.children) == 1

    press(view)
    assert view.card.says == "2 new programs are below."
    asked = [child._prediction for child in view.children[1:]]
    assert [each.tested_misconception.name for each in asked] == names
    first, second = asked
    answer_rightly(first)
    assert "○ one right, one more program settles it" in view.card.html
    answer_rightly(first.make_retest(names[0]))
    (believed,) = second.questions[0].wrong
    second.commit([believed])
    assert view.card.html.count("✔ settled by a new program") == (2 if lesson else 3)
    assert '○ open: `retest("detach copies")` asks again' in view.text
    assert '`retest("a copy shares memory")`' not in view.text

    press(view)
    assert view.card.says == "1 new program is below."
    _, again = view.children
    assert again._prediction.code != second.code, "another one"
    answer_rightly(again._prediction)
    answer_rightly(again._prediction.make_retest(names[1]))
    assert "<button" not in view.card.html, "there is nothing left to ask"
    view.close()


def test_programs_are_asked_a_few_at_a_time() -> None:
    names = ["a copy shares memory", "a view is a copy", "detach copies"]
    for name in names:
        add_note("misconceptions", name, {"state": "met", "in": "start/bet"})
    view: Any = progress("start").live()
    assert "more: press" not in view.card.html

    def read_asked() -> list[str]:
        return [child._prediction.tested_misconception.name for child in view.children[1:]]

    press(view)
    assert read_asked() == names[:2]
    assert "1 more: press the button again." in view.card.html
    # An answer shows the tables anew, with what still waits.
    answer_rightly(view.children[1]._prediction)
    assert "1 more: press the button again." in view.card.html
    press(view)
    assert read_asked() == names[2:]
    assert "more: press" not in view.card.html
    press(view)
    assert read_asked() == names[:2], "all had their turn"
    view.close()


def test_what_is_asked_again_says_as_much_as_where_it_was_met() -> None:
    note = {"state": "met", "in": "start/bet", "retests": 1}
    add_note("misconceptions", "detach copies", note)
    add_note("misconceptions", "a view is a copy", {"state": "met", "in": "start/shared"})
    retests = progress("start").make_retests()
    numbers = [re.match(r"New program (\d+): What is ", each.title) for each in retests]
    assert [number[1] for number in numbers if number] == ["1", "2"], (
        "two were called 1 in one list"
    )
    assert [each.level for each in retests] == ["counter", "names"]


def test_a_misconception_of_a_teachers_own_goes_by_its_name() -> None:
    add_note("misconceptions", "mine <b>", {"state": "met", "in": "x"})
    assert "“mine <b>” ○ open" in lines(progress().text)
    assert "“mine &lt;b&gt;”" in progress().html
