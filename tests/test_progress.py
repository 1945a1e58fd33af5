"""The progress file: one JSON of the learner's own, never lost, never in the way."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from pathlib import Path

import pytest
from copylab.progress import load, note, path, progress, recall


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
    assert progress().text == "Progress: nothing predicted and nothing solved yet."
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


def _write(first: int) -> None:
    for number in range(first, first + 20):
        note("exercises", f"k/{number}", {"state": "right"})


def test_two_kernels_lose_nothing_of_each_other() -> None:
    context = multiprocessing.get_context("spawn")
    both = [context.Process(target=_write, args=(first,)) for first in (0, 20)]
    for one in both:
        one.start()
    for one in both:
        one.join(60)
        assert one.exitcode == 0
    assert len(load()["exercises"]) == 40


def test_the_table() -> None:
    note("exercises", "clone/one", {"state": "right", "hints": 1})
    note("exercises", "clone/two", {"state": "wrong", "hints": 0, "solution": True})
    note("predictions", "clone/<b>", {"right": 7, "of": 9})
    note("predictions", "mine", {"right": 1, "of": 1})
    seen = progress()
    assert seen.text.splitlines() == [
        "Progress",
        "  clone <b>  predicted, 7 of 9 right",
        "  clone one  solved, 1 hint",
        "  clone two  begun, not solved yet, solution seen",
        "  mine       predicted, 1 of 1 right",
    ]
    assert repr(seen) == "Progress(2 predictions, 1 of 2 exercises solved)"
    assert "&lt;b&gt;" in seen.html
    assert seen.html.count('<th scope="row">') == 4
    assert seen._repr_mimebundle_()["text/plain"] == seen.text
