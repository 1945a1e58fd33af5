"""The progress file: one JSON of the learner's own, never lost, never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from copylab.course.overview import course, progress
from copylab.quiz.progress import load, note, path, recall


@pytest.fixture(autouse=True)
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "deep" / "kept.json"))
    return tmp_path / "deep" / "kept.json"


def test_where_it_lies(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    assert path() == file
    monkeypatch.delenv("COPYLAB_PROGRESS")
    assert path() == Path("copylab-progress.json")


def test_looking_writes_nothing(file: Path) -> None:
    assert load() == {"predictions": {}, "exercises": {}}
    assert recall("exercises", "a/b") == {}
    assert progress().text.startswith("Progress: 0 of ")
    assert not file.parent.exists()


def test_notes_are_kept_and_updated(file: Path) -> None:
    note("exercises", "clone/one", {"state": "wrong"})
    note("exercises", "clone/one", {"hints": 2})
    note("predictions", "clone/read", {"right": 7, "of": 9})
    note("predictions", None, {"right": 1, "of": 1})
    assert recall("exercises", "clone/one") == {"state": "wrong", "hints": 2}
    kept = json.loads(file.read_text("utf-8"))
    assert kept == {
        "version": 1,
        "predictions": {"clone/read": {"right": 7, "of": 9}},
        "exercises": {"clone/one": {"state": "wrong", "hints": 2}},
    }
    assert [p.name for p in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"exercises": 3}', '{"exercises": {"a": 1}}', "\x00", '{"a": NaN'])
def test_a_broken_file_is_set_aside_and_said(file: Path, text: str) -> None:
    file.parent.mkdir()
    for name in ("kept.json.broken", "kept.json.broken2"):
        file.write_text(text, "utf-8")
        with pytest.warns(UserWarning, match=f"kept as {name}$"):
            note("exercises", "k", {"state": "right"})
        assert (file.parent / name).read_text("utf-8") == text
        assert recall("exercises", "k") == {"state": "right"}


def test_bytes_that_are_no_text(file: Path) -> None:
    file.parent.mkdir()
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.warns(UserWarning, match=r"kept as kept\.json\.broken"):
        assert load() == {"predictions": {}, "exercises": {}}
    assert (file.parent / "kept.json.broken").read_bytes() == b"\xff\xfe\x00"


def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "plain").write_text("a file, no folder")
    monkeypatch.setenv("COPYLAB_PROGRESS", str(tmp_path / "plain" / "kept.json"))
    with pytest.warns(UserWarning, match="this is not kept"):
        note("exercises", "k", {"state": "right"})


def test_a_lock_that_was_left_behind(file: Path) -> None:
    file.parent.mkdir()
    lock = file.with_name("kept.json.lock")
    lock.touch()
    os.utime(lock, (time.time() - 60, time.time() - 60))
    note("exercises", "k", {"state": "right"})
    assert recall("exercises", "k") == {"state": "right"}
    assert not lock.exists()


WRITE = """
from copylab.quiz.progress import note
for number in range({first}, {first} + 20):
    note("exercises", f"k/{{number}}", {{"state": "right"}})
"""


def test_two_kernels_lose_nothing_of_each_other() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    commands = [[sys.executable, "-c", WRITE.format(first=first)] for first in (0, 20)]
    both = [subprocess.Popen(command, env=environment) for command in commands]
    assert [one.wait(60) for one in both] == [0, 0]
    assert len(load()["exercises"]) == 40


def test_the_course_is_in_its_order() -> None:
    found = course()
    assert [key for key in found if key.startswith(("start/", "clone/"))] == [
        "start/bet",
        "start/shared",
        "start/recorded",
        "start/part",
        "start/twelve",
        "clone/seven",
        "clone/rest",
        "clone/readings",
        "clone/both",
    ]
    assert found["clone/seven"] == "predictions"
    assert found["clone/both"] == "exercises"


def test_the_table() -> None:
    empty = progress()
    count = len(empty.rows())
    assert {how for _, _, how in empty.rows()} == {"not yet"}
    note("exercises", "clone/readings", {"state": "right", "hints": 1})
    note("exercises", "clone/both", {"state": "wrong", "hints": 0, "solution": True})
    note("predictions", "clone/seven", {"right": 7, "of": 11})
    note("predictions", "mine/<b>", {"right": 1, "of": 1})
    note("predictions", "alone", {"right": 1, "of": 2})
    seen = progress()
    lines = [" ".join(line.split()) for line in seen.text.splitlines()]
    for line in (
        "clone seven ✔ predicted, 7 of 11 right",
        "clone readings ✔ solved, 1 hint",
        "clone both … begun, not solved yet, solution seen",
        "start part not yet",
    ):
        assert line in lines
    assert lines[-2:] == ["alone ✔ predicted, 1 of 2 right", "mine <b> ✔ predicted, 1 of 1 right"]
    assert len(seen.rows()) == count + 2
    kinds = list(course().values())
    assert seen.summary == (
        f"3 of {kinds.count('predictions') + 2} predictions committed, 1 of {kinds.count('exercises')} exercises solved"
    )
    assert seen.summary in lines[0]
    assert repr(seen) == f"Progress({seen.summary})"
    assert "&lt;b&gt;" in seen.html
    assert seen.html.count('<th scope="row">') == count + 2
    assert seen._repr_mimebundle_()["text/plain"] == seen.text
