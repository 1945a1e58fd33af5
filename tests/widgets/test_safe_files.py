"""Files that somebody else put into a folder: links, pipes, devices, names, sizes."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from copylab import safe_files
from copylab.safe_files import RefusedFileError, SafeFolder, explain_error, resolve_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links, pipes and modes")


@pytest.fixture(params=["relative to folders", "by whole paths"], autouse=True)
def way_to_open(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Open files as Linux and macOS can, and as Windows has to."""
    if request.param == "by whole paths":
        monkeypatch.setattr(safe_files, "_CAN_OPEN_RELATIVE", False)


@pytest.fixture
def folder(tmp_path: Path) -> SafeFolder:
    made = SafeFolder(tmp_path / "mine")
    made.make()
    return made


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Path]:
    """A folder beside it, with a file in it that nobody may change."""
    made = tmp_path / "outside"
    made.mkdir()
    (made / "a.txt").write_text("secret")
    yield made
    assert [path.name for path in made.iterdir()] == ["a.txt"]
    assert (made / "a.txt").read_text() == "secret"


def test_a_file_is_written_read_renamed_and_removed(folder: SafeFolder) -> None:
    folder.write("deep/er/a.txt", b"1")
    folder.write("deep/er/a.txt", b"2")
    assert folder.read("deep/er/a.txt") == b"2"
    assert folder.list_files("deep/er") == ["a.txt"], "and nothing beside it"
    folder.rename("deep/er/a.txt", "b.txt")
    assert (folder.has("deep/er/a.txt"), folder.has("deep/er/b.txt")) == (False, True)
    assert folder.find_free_name("deep/er/b.txt", "b{}.txt") == "b2.txt"
    folder.remove("deep/er/b.txt")
    with pytest.raises(FileNotFoundError):
        folder.read("deep/er/b.txt")


@pytest.mark.parametrize(
    "name", ["../a", "/etc/passwd", "", ".", "..", "a//b", "a/../../b", "a\0b", "a/"]
)
def test_names_that_lead_elsewhere_are_refused(folder: SafeFolder, name: str) -> None:
    for call in (
        folder.read,
        folder.remove,
        folder.has,
        folder.make_folder,
        lambda name: folder.write(name, b""),
    ):
        with pytest.raises(RefusedFileError, match="leads out of the folder"):
            call(name)
    folder.write("a.txt", b"1")
    with pytest.raises(RefusedFileError, match="leads out of the folder"):
        folder.rename("a.txt", "../b.txt")
    assert [path.name for path in folder.path.iterdir()] == ["a.txt"]


def test_no_link_is_followed(folder: SafeFolder, outside: Path) -> None:
    (folder.path / "a.txt").symlink_to(outside / "a.txt")
    (folder.path / "gone.txt").symlink_to(outside / "gone.txt")
    (folder.path / "sub").symlink_to(outside)
    for name in ("a.txt", "sub/a.txt", "gone.txt"):
        assert name.startswith("sub") or folder.has(name)
        for call in (folder.read, lambda name: folder.write(name, b"mine")):
            with pytest.raises(RefusedFileError, match="links are not followed"):
                call(name)
    with pytest.raises(RefusedFileError, match="links are not followed"):
        folder.list_files("sub")
    with pytest.raises(RefusedFileError, match="links are not followed"):
        folder.require_files_only("sub")
    folder.remove("a.txt")
    assert not folder.has("a.txt")


def test_a_link_in_place_of_the_temporary_file_is_not_written_through(
    folder: SafeFolder, outside: Path
) -> None:
    (folder.path / ".b.txt.part").symlink_to(outside / "a.txt")
    folder.write("b.txt", b"mine")
    assert folder.list_files() == ["b.txt"]


def test_the_folder_itself_may_be_a_link_that_the_user_named(
    folder: SafeFolder, tmp_path: Path
) -> None:
    (tmp_path / "named").symlink_to(folder.path)
    SafeFolder(tmp_path / "named").write("a.txt", b"1")
    assert folder.read("a.txt") == b"1"
    assert resolve_folder(tmp_path / "named") == folder.path


def test_pipes_devices_and_folders_are_neither_read_nor_replaced(folder: SafeFolder) -> None:
    os.mkfifo(folder.path / "pipe")
    (folder.path / "folder").mkdir()
    for name in ("pipe", "folder"):
        for call in (folder.read, lambda name: folder.write(name, b"mine")):
            with pytest.raises(RefusedFileError, match="it is not a file"):
                call(name)
    with pytest.raises(RefusedFileError, match="it is not a file"):
        SafeFolder(Path("/dev")).read("zero")
    folder.write("file", b"")
    with pytest.raises(RefusedFileError, match="it is not a folder"):
        folder.write("file/a.txt", b"")


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_pipe_that_comes_between_look_and_use_does_not_hang(
    folder: SafeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder.path / "pipe")
    require, looks = safe_files._require_regular, []

    def overlook(name: str, found: os.stat_result) -> None:
        looks.append(name)
        if len(looks) > 1:  # the first look finds nothing wrong
            require(name, found)

    monkeypatch.setattr(safe_files, "_require_regular", overlook)
    with pytest.raises(RefusedFileError, match="it is not a file"):
        folder.read("pipe")


def test_a_file_that_is_too_large_says_so(folder: SafeFolder) -> None:
    folder.write("a.txt", b"12345")
    assert folder.read("a.txt", 5) == b"12345"
    with (folder.path / "sparse").open("wb") as file:
        file.truncate(10**12)
    with pytest.raises(RefusedFileError) as refused:
        folder.read("sparse", 2**20)
    assert explain_error(refused.value) == "sparse: it is larger than 1 MB"


def test_mode_and_hard_links(folder: SafeFolder, outside: Path) -> None:
    before = os.umask(0o027)
    try:
        folder.write("new.txt", b"")
    finally:
        os.umask(before)
    assert (folder.path / "new.txt").stat().st_mode & 0o777 == 0o640
    (folder.path / "new.txt").chmod(0o600)
    folder.write("new.txt", b"1")
    assert (folder.path / "new.txt").stat().st_mode & 0o777 == 0o600
    (folder.path / "hard.txt").hardlink_to(outside / "a.txt")
    folder.write("hard.txt", b"mine")
    assert folder.read("hard.txt") == b"mine"


def test_the_old_file_is_renamed_only_when_the_new_one_is_on_the_disk(
    folder: SafeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write("a.txt", b"old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left"):
            folder.write("a.txt", b"new", keep_old_as="b.txt")
    assert (folder.list_files(), folder.read("a.txt")) == (["a.txt"], b"old")
    folder.write("a.txt", b"new", keep_old_as="b.txt")
    assert (folder.read("a.txt"), folder.read("b.txt")) == (b"new", b"old")


def test_a_loop_of_links_is_an_error_of_the_system(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(OSError, match="Too many levels"):
        SafeFolder(resolve_folder(tmp_path / "a")).make()
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError):
        SafeFolder(tmp_path / "file").make()
    with pytest.raises(OSError, match="home"):
        resolve_folder(Path("~nobody-of-this-name/x"))


def test_a_lock_is_waited_for_and_a_file_system_without_locks_is_used(
    folder: SafeFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(safe_files, "_LOCK_SECONDS", 0.02)
    with folder.lock(), pytest.raises(OSError, match="another process is writing"), folder.lock():
        pytest.fail("two have it")

    def refuse(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with folder.lock():
        folder.write("a.txt", b"")
