"""A course folder in which somebody put what does harm: nothing outside of it is read or written, nothing is lost."""

import errno
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from copylab.course import command, layout
from copylab.course.layout import (
    TRUST,
    can_sign,
    lay_out,
    list_lessons,
    remembered_language,
    reset_lesson,
)
from copylab.course.lesson import digest_of_file, lessons_folder, read_notebook
from copylab.course_folder import COURSE_STATE_FILE, hides_solutions
from copylab.safe_files import SafeFolder
from course_folders import edit, lesson, names

from tinytorch.viz import set_language

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes")


@pytest.fixture(autouse=True)
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one lesson with its solution."""
    folder = tmp_path / "notebooks"
    (folder / "solutions").mkdir(parents=True)
    for name in ("01_one.ipynb", "solutions/01_one.ipynb"):
        (folder / name).write_text(lesson("edition = 1"), "utf-8")
    monkeypatch.setattr("copylab.course.layout.lessons_folder", lambda: folder)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine").mkdir()
    return tmp_path / "mine"


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside it, with a file in it, which must not change."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "a.txt").write_text("secret", "utf-8")
    yield made
    assert [path.name for path in made.iterdir()] == ["a.txt"]
    assert (made / "a.txt").read_text("utf-8") == "secret"


def state_of(*files: str, text: str = "secret", **rest: object) -> str:
    """A state file that says that these files were laid out, with that text."""
    known = {"language": "en", "digest": digest_of_file(text.encode())}
    return json.dumps({"language": "en", "files": dict.fromkeys(files, known), **rest})


def test_a_linked_state_file_is_set_aside(folder: Path, outside: Path) -> None:
    (folder / COURSE_STATE_FILE).symlink_to(outside / "a.txt")
    (told,) = lay_out(folder)
    assert told == (
        "The record of what was laid out, .copylab.json, could not be read: it is a link, and links are not followed. "
        "It is kept as .copylab.json.broken."
    )
    assert (folder / f"{COURSE_STATE_FILE}.broken").is_symlink()
    assert lay_out(folder) == []
    assert not (folder / COURSE_STATE_FILE).is_symlink()


@pytest.mark.parametrize(
    "name",
    [
        "../outside/a.txt",
        "{outside}/a.txt",
        "sub/../../outside/a.txt",
        "link/a.txt",
        "a\0b",
        "",
        ".",
        "..",
        "\ud800",
    ],
)
def test_no_name_in_the_state_file_leads_outside(folder: Path, outside: Path, name: str) -> None:
    (folder / "link").symlink_to(outside)
    name = name.format(outside=outside)
    (folder / COURSE_STATE_FILE).write_text(
        state_of(name, pending={name: {"language": "en", "digest": "0"}}), "utf-8"
    )
    assert lay_out(folder) == []
    state = json.loads((folder / COURSE_STATE_FILE).read_text("utf-8"))
    assert (sorted(state["files"]), "pending" in state) == (
        ["01_one.ipynb", "solutions/01_one.ipynb"],
        False,
    )


def test_names_that_the_course_never_had_are_not_removed(folder: Path) -> None:
    ours = [".ssh", "copylab-progress.json", "my notes.txt", "01_ONE.ipynb"]
    (folder / COURSE_STATE_FILE).write_text(state_of(*ours), "utf-8")
    for name in ours:
        (folder / name).write_text("secret", "utf-8")
    lay_out(folder)
    assert [(folder / name).read_text("utf-8") for name in ours] == ["secret"] * 4


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"files":' * 50_000,
        "\xff",
        "3",
        '{"files": {}, "language": {}}',
        '{"files": 3}',
        "9" * 10_000,
        "",
    ],
)
def test_a_state_file_that_cannot_be_understood_is_set_aside(folder: Path, text: str) -> None:
    (folder / COURSE_STATE_FILE).write_bytes(text.encode("latin-1"))
    edit_me = folder / "01_one.ipynb"
    edit_me.write_text("mine", "utf-8")
    assert remembered_language(folder) is None
    told = lay_out(folder)
    assert "01_one.ipynb" in told[0]
    assert "It is kept as .copylab.json.broken." in told[1]
    assert (folder / f"{COURSE_STATE_FILE}.broken").read_bytes() == text.encode("latin-1")
    assert edit_me.read_text("utf-8") == "mine"
    assert remembered_language(folder) == "en"


def test_a_pipe_and_an_endless_file_are_not_read(folder: Path) -> None:
    os.mkfifo(folder / COURSE_STATE_FILE)
    assert remembered_language(folder) is None
    assert "it is not a file" in lay_out(folder)[0]
    with (folder / COURSE_STATE_FILE).open("wb") as file:
        file.truncate(10**12)
    assert "it is larger than 1 MB" in lay_out(folder)[0]
    (folder / COURSE_STATE_FILE).unlink()
    (folder / COURSE_STATE_FILE).symlink_to("/dev/zero")
    assert "links are not followed" in lay_out(folder)[0]
    assert "01_one.ipynb" in names(folder)


def test_a_language_that_is_none_of_the_course_is_not_believed(folder: Path) -> None:
    (folder / COURSE_STATE_FILE).write_text(state_of(language="../../../outside"), "utf-8")
    assert remembered_language(folder) == "en"
    assert lay_out(folder) == []


def test_linked_lessons_and_folders_stay_and_lead_nowhere(folder: Path, outside: Path) -> None:
    (folder / "01_one.ipynb").symlink_to(outside / "a.txt")
    (folder / "solutions").symlink_to(outside)
    assert lay_out(folder) == [
        "01_one.ipynb stays as it is: it is a link, and links are not followed.",
        "solutions stays as it is: it is a link, and links are not followed.",
    ]
    (told,) = reset_lesson(folder, "one")
    assert "'01_one (yours).ipynb'" in told
    assert (folder / "01_one (yours).ipynb").is_symlink()
    assert "edition = 1" in (folder / "01_one.ipynb").read_text("utf-8")


@pytest.mark.parametrize("kind", ["pipe", "folder", "large", "deep"])
def test_a_lesson_that_is_none_stays(folder: Path, kind: str) -> None:
    mine = folder / "01_one.ipynb"
    if kind == "pipe":
        os.mkfifo(mine)
    elif kind == "folder":
        mine.mkdir()
    elif kind == "large":
        with mine.open("wb") as file:
            file.truncate(10**12)
    else:
        mine.write_text('{"cells": ' + "[" * 200_000, "utf-8")
    before = mine.stat()
    (told,) = lay_out(folder)
    assert "01_one.ipynb" in told
    assert (mine.stat().st_ino, mine.stat().st_size) == (before.st_ino, before.st_size)
    reset_lesson(folder, "one")
    assert (folder / "01_one (yours).ipynb").stat().st_ino == before.st_ino


@pytest.mark.parametrize(
    "name", ["", "/nbsignatures.db", "/notebook_secret", "/nbsignatures.db-journal"]
)
def test_nothing_is_signed_through_a_link(folder: Path, outside: Path, name: str) -> None:
    if name:
        (folder / TRUST).mkdir()
    (folder / f"{TRUST}{name}").symlink_to(outside / "new" if name else outside)
    assert lay_out(folder) == [
        f"{TRUST}{name} stays as it is: it is a link, and links are not followed."
    ]
    assert not can_sign(folder), "so JupyterLab is not sent there either"


def test_a_hard_link_elsewhere_keeps_what_it_has(
    source: Path, folder: Path, tmp_path: Path
) -> None:
    lay_out(folder)
    for name in ("01_one.ipynb", COURSE_STATE_FILE):
        (tmp_path / name).hardlink_to(folder / name)
    before = [(tmp_path / name).read_bytes() for name in ("01_one.ipynb", COURSE_STATE_FILE)]
    (source / "01_one.ipynb").write_text(lesson("edition = 2"), "utf-8")
    assert "replaced" in lay_out(folder)[0]
    assert [
        (tmp_path / name).read_bytes() for name in ("01_one.ipynb", COURSE_STATE_FILE)
    ] == before


# A disk that is full, and a folder that may not be written


class FullDisk:
    """Lets so many files be written, then raises."""

    def __init__(self, files: int, number: int = errno.ENOSPC) -> None:
        self.files, self.number, self.write = files, number, SafeFolder.write

    def put_in_place(self, patch: pytest.MonkeyPatch) -> None:
        """Let SafeFolder write to this disk."""

        def write(folder: SafeFolder, name: str, content: bytes, **rest: str | None) -> None:
            if self.files == 0:
                raise OSError(self.number, os.strerror(self.number), name)
            self.files -= 1
            self.write(folder, name, content, **rest)

        patch.setattr(SafeFolder, "write", write)


@pytest.mark.parametrize("files", range(5))
def test_after_a_full_disk_nothing_is_said_to_be_begun_that_was_not(
    source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    def lay_out_on_full_disk() -> None:
        with monkeypatch.context() as patch, suppress(OSError):
            FullDisk(files).put_in_place(patch)
            lay_out(folder)

    # Laid out at first, then two new editions, and each time the disk is full.
    for edition in (
        1,
        2,
        3,
    ):
        for name in ("01_one.ipynb", "solutions/01_one.ipynb"):
            (source / name).write_text(lesson(f"edition = {edition}"), "utf-8")
        lay_out_on_full_disk()
    told = lay_out(folder)
    assert not [remark for remark in told if "begun" in remark]
    for name in ("01_one.ipynb", "solutions/01_one.ipynb"):
        assert "edition = 3" in (folder / name).read_text("utf-8")

    mine = edit(folder / "01_one.ipynb")
    (source / "01_one.ipynb").write_text(lesson("edition = 4"), "utf-8")
    lay_out_on_full_disk()
    assert (folder / "01_one.ipynb").read_text("utf-8") == mine


@pytest.mark.parametrize("files", range(3))
def test_reset_on_a_full_disk_loses_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    lay_out(folder)
    mine = edit(folder / "01_one.ipynb")
    with monkeypatch.context() as patch:
        FullDisk(files).put_in_place(patch)
        with pytest.raises(OSError, match="No space"):
            reset_lesson(folder, "one")
    kept = folder / ("01_one (yours).ipynb" if files == 2 else "01_one.ipynb")
    assert kept.read_text("utf-8") == mine
    assert (folder / "01_one.ipynb").is_file()


def run_command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> list[str]:
    """Run the command up to the start of JupyterLab; return the command line that would start it."""
    started: list[str] = []
    monkeypatch.setattr(sys, "argv", ["copylab", *arguments])
    monkeypatch.setattr(command, "_start_jupyter", lambda line, _: started.extend(line))
    monkeypatch.setattr(command, "_require_jupyter", lambda: None)
    command.main()
    return started


def test_a_read_only_folder_is_opened_and_it_is_said_what_cannot_be_stored(
    source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_read_only(*arguments: str) -> str:
        with monkeypatch.context() as patch:
            FullDisk(0, errno.EROFS).put_in_place(patch)
            # A test may be run by root, who may write anywhere.
            patch.setattr(os, "access", lambda *_: False)
            line = run_command(patch, f"--folder={folder}", *arguments)
        assert f"--ServerApp.root_dir={folder}" in line
        assert not [option for option in line if "NotebookNotary" in option], "it would write there"
        return capsys.readouterr().out

    with pytest.raises(SystemExit, match=r"could not be written: \.copylab\.json: Read-only"):
        run_read_only()  # there is nothing to open
    lay_out(folder)
    stored = f"What you change in {folder} cannot be stored: the folder cannot be written to.\n"
    stop = "Stop JupyterLab with Ctrl-C and y.\n"
    assert run_read_only() == f"Your lessons are in {folder}.\n{stored}{stop}"
    (source / "01_one.ipynb").write_text(lesson("edition = 2"), "utf-8")
    failed = f"{folder} could not be written: .copylab.json: Read-only file system\n"
    assert run_read_only() == f"{failed}The lessons open as they are.\n{stored}{stop}"
    with pytest.raises(SystemExit):
        run_read_only("--lay-out-only")


def test_a_folder_that_is_a_loop_of_links_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    for rest in ([], ["--lay-out-only"], ["reset", "one"]):
        with pytest.raises(
            SystemExit, match=r"a could not be written: .*a: Too many levels of symbolic links"
        ):
            run_command(monkeypatch, f"--folder={tmp_path / 'a'}", *rest)


def test_jupyterlab_is_not_told_to_open_a_link(folder: Path, outside: Path) -> None:
    lay_out(folder)
    (folder / "00_first.ipynb").symlink_to(outside / "a.txt")
    assert list_lessons(folder) == ["01_one.ipynb"]


# The command


def test_without_solutions_none_are_laid_out_and_none_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COPYLAB_SOLUTIONS", "off")
    assert lay_out(folder) == []
    assert names(folder) == ["01_one.ipynb"]
    monkeypatch.delenv("COPYLAB_SOLUTIONS")
    assert lay_out(folder) == []
    assert names(folder) == ["01_one.ipynb"], "the folder remembers it"
    monkeypatch.chdir(folder)
    assert hides_solutions(), "in every Jupyter that is started there"
    monkeypatch.setenv("COPYLAB_SOLUTIONS", "on")
    assert not hides_solutions()
    assert lay_out(folder) == []
    assert names(folder) == ["01_one.ipynb", "solutions/01_one.ipynb"]
    monkeypatch.setenv("COPYLAB_SOLUTIONS", "off")
    assert lay_out(folder) == []
    assert names(folder) == ["01_one.ipynb", "solutions/01_one.ipynb"], (
        "they may be the learner's own by now"
    )


@pytest.mark.parametrize("after", [False, True])
def test_the_language_is_said_before_or_after_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], after: bool
) -> None:
    monkeypatch.setattr(layout, "lessons_folder", lessons_folder)

    def run(*words: str) -> None:
        said = ["--language", "zh"]
        run_command(monkeypatch, *([*words, *said] if after else [*said, *words]))

    run("nbgrader", str(tmp_path / "class"), "02_clone")
    assignment = tmp_path / "class" / "source" / "02_clone" / "02_clone.ipynb"
    assert capsys.readouterr().out == f"{assignment}\n"
    folder = tmp_path / "course"
    run("reset", "clone", *([f"--folder={folder}"]))
    for notebook in (assignment, folder / "02_clone.ipynb"):
        assert not "".join(read_notebook(notebook)["cells"][0]["source"]).isascii()
    assert remembered_language(folder) == "zh"


@pytest.mark.parametrize(
    ("words", "language"),
    [
        (["--language", "zh", "--help"], "zh"),
        (["--help", "--language=ko"], "ko"),
        (["exam", "--language", "zh", "--help"], "zh"),
        (["--language", "xx", "--help"], None),
        # A language that is missing is an error, but not one of the help's.
        (["--help", "--language"], None),
    ],
)
def test_the_help_is_in_the_language_of_the_command_line(
    words: list[str],
    language: str | None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    try:
        with pytest.raises(SystemExit):
            run_command(monkeypatch, *words)
    finally:
        set_language(None)
    scripts = {"zh": r"[\u4e00-\u9fff]", "ko": r"[\uac00-\ud7a3]"}
    said = capsys.readouterr().out
    assert {name for name, script in scripts.items() if re.search(script, said)} == {
        *filter(None, [language])
    }
