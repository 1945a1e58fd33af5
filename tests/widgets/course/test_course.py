"""Laying the course out: what a learner wrote is never lost."""

import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from copylab.course.command import lay_out, lay_out_in
from copylab.course.folder import lessons
from copylab.course.translation import digest


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (folder / "one.ipynb").write_text("edition 1", encoding="utf-8")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "a.svg").write_text("<svg/>", encoding="utf-8")
    (folder / ".hidden").write_text("", encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mine"


def names(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_all_files_are_laid_out_once(source: Path, folder: Path) -> None:
    assert lay_out(source, folder) == []
    assert names(folder) == [".copylab.json", "one.ipynb", "pictures/a.svg"]
    assert lay_out(source, folder) == []
    assert names(folder) == [".copylab.json", "one.ipynb", "pictures/a.svg"]


def test_what_the_learner_wrote_stays(source: Path, folder: Path) -> None:
    lay_out(source, folder)
    (folder / "one.ipynb").write_text("my answers", encoding="utf-8")
    assert lay_out(source, folder) == []
    assert (folder / "one.ipynb").read_text(encoding="utf-8") == "my answers"


def test_a_new_edition_is_put_beside_what_the_learner_wrote(source: Path, folder: Path) -> None:
    lay_out(source, folder)
    (folder / "one.ipynb").write_text("my answers", encoding="utf-8")
    (source / "one.ipynb").write_text("edition 2", encoding="utf-8")
    (told,) = lay_out(source, folder)
    assert "'one (new).ipynb'" in told
    assert (folder / "one.ipynb").read_text(encoding="utf-8") == "my answers"
    assert (folder / "one (new).ipynb").read_text(encoding="utf-8") == "edition 2"
    assert lay_out(source, folder) == []

    (folder / "one (new).ipynb").write_text("my second answers", encoding="utf-8")
    (source / "one.ipynb").write_text("edition 3", encoding="utf-8")
    lay_out(source, folder)
    assert (folder / "one (new).ipynb").read_text(encoding="utf-8") == "my second answers"
    assert (folder / "one (new 2).ipynb").read_text(encoding="utf-8") == "edition 3"


def test_an_untouched_lesson_is_brought_up_to_date(source: Path, folder: Path) -> None:
    lay_out(source, folder)
    (source / "one.ipynb").write_text("edition 2", encoding="utf-8")
    (told,) = lay_out(source, folder)
    assert "replaced" in told
    assert (folder / "one.ipynb").read_text(encoding="utf-8") == "edition 2"


@pytest.mark.parametrize("state", [None, "no json", "[]"])
def test_without_a_record_every_file_counts_as_the_learners(source: Path, folder: Path, state: str | None) -> None:
    folder.mkdir()
    (folder / "one.ipynb").write_text("mine", encoding="utf-8")
    if state is not None:
        (folder / ".copylab.json").write_text(state, encoding="utf-8")
    lay_out(source, folder)
    assert (folder / "one.ipynb").read_text(encoding="utf-8") == "mine"
    assert (folder / "one (new).ipynb").read_text(encoding="utf-8") == "edition 1"


def test_a_folder_that_is_a_file_is_an_error(source: Path, folder: Path) -> None:
    folder.write_text("a file", encoding="utf-8")
    with pytest.raises(OSError, match="mine"):
        lay_out(source, folder)


def test_the_lessons_are_found() -> None:
    assert (lessons() / "LICENSE").is_file()


@pytest.mark.slow
def test_another_language(source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = {"id": "title", "cell_type": "markdown", "source": ["Two names."]}
    (source / "one.ipynb").write_text(json.dumps({"cells": [text]}), encoding="utf-8")
    catalogue = source / "translations" / "de" / "one.md"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(f"<!-- cell title {digest('Two names.')} -->\nZwei Namen.\n", encoding="utf-8")
    monkeypatch.setattr("copylab.course.command.lessons", lambda: source)
    lay_out_in("de", folder)
    assert "Zwei Namen." in (folder / "one.ipynb").read_text(encoding="utf-8")
    assert (folder / "pictures" / "a.svg").is_file()
    assert not (folder / "translations").exists(), "a learner has no use for the catalogues"
    with pytest.raises(ValueError, match="it is in: en, de"):
        lay_out_in("fr", folder)


def test_jupyterlab_opens_the_first_lesson_and_asks_nothing(folder: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    # Nothing of the user's own Jupyter settings, and none of the port numbers that something else may hold.
    keep = {name: value for name, value in os.environ.items() if not name.startswith("JUPYTER")}
    command = [sys.executable, "-m", "copylab.course", "--no-browser", "--port=0", f"--folder={folder}"]
    log = tmp_path / "log"
    with log.open("w") as out:
        server = subprocess.Popen(command, env=keep | {"HOME": str(home)}, stdout=out, stderr=out)
    try:
        url = wait_for_address(log, server)
        page = urllib.request.urlopen(url, timeout=30).read().decode()
        assert "JupyterLab" in page
        assert re.search(r"/lab/tree/[^/]+\.ipynb\?", url)
        assert (folder / url.partition("/lab/tree/")[2].partition("?")[0]).is_file()
        settings = url.replace(url[url.index("/lab/tree") : url.index("?")], "/lab/api/settings/" + NOTIFICATION)
        answer = json.load(urllib.request.urlopen(settings, timeout=30))
        assert answer["schema"]["properties"]["fetchNews"]["default"] == "false"
        assert answer["schema"]["properties"]["checkForUpdates"]["default"] is False
    finally:
        server.terminate()
        server.wait(timeout=30)


NOTIFICATION = "@jupyterlab/apputils-extension:notification"


def wait_for_address(log: Path, server: subprocess.Popen) -> str:
    """Return the address that JupyterLab prints, or fail with all that it printed."""
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        if found := re.search(r"http://127\.0\.0\.1:\S+", log.read_text()):
            return found.group()
        time.sleep(0.1)
    pytest.fail(log.read_text() or "JupyterLab said nothing")
