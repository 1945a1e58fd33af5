"""start.py: it installs once, again when something changed, and says plainly what is missing."""

import importlib.util
import shutil
import subprocess
import sys
import types
from pathlib import Path
from types import ModuleType

import pytest
from project_files import ROOT


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return start.py as a module that takes an empty folder for its own, with nothing set up."""
    spec = importlib.util.spec_from_file_location("start", ROOT / "start.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "pyproject.toml").write_text("one", encoding="utf-8")
    (tmp_path / "constraints.txt").write_text("numpy==2", encoding="utf-8")
    python = tmp_path / ".venv" / "bin" / "python"
    places = {
        "ROOT": tmp_path,
        "VENV": tmp_path / ".venv",
        "PYTHON": python,
        "STAMP": tmp_path / ".venv" / "stamp",
    }
    places["CONSTRAINTS"] = tmp_path / "constraints.txt"
    for name, value in places.items():
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(shutil, "which", lambda _: None)
    return module


@pytest.fixture
def installed(start: ModuleType, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect what would be installed instead of installing it; the environment itself is there."""
    targets: list[str] = []
    start.VENV.mkdir()
    monkeypatch.setattr(start, "make_venv", lambda: None)
    monkeypatch.setattr(
        start, "install_packages", lambda *options: targets.append(options[-1].partition("[")[2])
    )
    return targets


def test_a_second_run_installs_nothing(start: ModuleType, installed: list[str]) -> None:
    start.set_up("course", "test")
    start.set_up("course", "test")
    start.set_up("course")
    assert installed == ["course,test]"]


def test_what_is_new_is_added_and_nothing_is_taken_away(
    start: ModuleType, installed: list[str]
) -> None:
    start.set_up("course")
    start.set_up("test")
    (start.ROOT / "pyproject.toml").write_text("two", encoding="utf-8")
    start.set_up("course")
    assert installed == ["course]", "course,test]", "course,test]"]


def test_a_setup_that_failed_is_tried_again(start: ModuleType, installed: list[str]) -> None:
    fail = pytest.MonkeyPatch()
    fail.setattr(start, "install_packages", lambda *_: sys.exit("no network"))
    with pytest.raises(SystemExit, match="no network"):
        start.set_up("course")
    fail.undo()
    start.set_up("course")
    assert installed == ["course]"]


def test_other_versions_are_installed_when_the_constraints_change(
    start: ModuleType, installed: list[str]
) -> None:
    start.set_up("course")
    start.CONSTRAINTS.write_text("numpy==3", encoding="utf-8")
    start.set_up("course")
    assert installed == ["course]", "course]"]


@pytest.mark.parametrize(
    ("version", "is_constrained"), [((3, 11), True), ((3, 14), True), ((3, 99), False)]
)
def test_a_python_newer_than_the_constraints_takes_the_newest_packages(
    start: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    version: tuple[int, int],
    is_constrained: bool,
) -> None:
    given: list[str] = []
    start.VENV.mkdir()
    monkeypatch.setattr(start, "make_venv", lambda: None)
    monkeypatch.setattr(start, "install_packages", lambda *options: given.extend(options))
    monkeypatch.setattr(start.sys, "version_info", (*version, 0))
    start.set_up("course")
    assert ("--constraint" in given) == is_constrained


INSTALLER = """
import time
print("Collecting numpy>=2.0 (from copylab)", flush=True)
print("WARNING: a mirror was slow", flush=True)
time.sleep(0.5)
raise SystemExit({status})
"""


def test_an_installation_shows_how_far_it_is(
    start: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = start.run_with_progress(sys.executable, "-c", INSTALLER.format(status=0))
    assert progress.succeeded
    assert progress.describe() == "  1 packages  Collecting numpy>=2.0 (from copylab)"
    # At once, not after the first ten seconds.
    assert capsys.readouterr().out.startswith("   0 s  ")


def test_an_installation_that_fails_shows_what_the_installer_said(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run, program = start.run_with_progress, INSTALLER.format(status=3)
    monkeypatch.setattr(start, "run_with_progress", lambda *_: run(sys.executable, "-c", program))
    with pytest.raises(SystemExit, match="could not install the packages"):
        start.install_packages("--editable", ".")
    assert "WARNING: a mirror was slow" in capsys.readouterr().err


def test_packages_are_installed_by_a_pip_of_today_where_one_can_be_had(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands: list[tuple[str, ...]] = []

    def fail(*command: str) -> bool:
        commands.append(command)
        return False

    def install(*command: str) -> types.SimpleNamespace:
        commands.append(command)
        return types.SimpleNamespace(succeeded=True)

    monkeypatch.setattr(start, "works", fail)
    monkeypatch.setattr(start, "run_with_progress", install)
    # The old one does without it.
    start.install_packages("numpy")
    assert [command[-2:] for command in commands] == [
        ("--upgrade", "pip"),
        ("--no-compile", "numpy"),
    ]


def test_without_pip_the_way_out_is_said(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(start, "works", lambda *_: False)
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        start.bring_pip()


def test_a_command_that_fails_stops_with_a_sentence(start: ModuleType) -> None:
    start.do("succeed", sys.executable, "-c", "")
    with pytest.raises(SystemExit, match="could not fail"):
        start.do("fail", sys.executable, "-c", "raise SystemExit(3)")
    assert not start.works("no-such-program-anywhere")


def test_an_old_python_is_told_so() -> None:
    # The file as an old Python would see it: only the version it is told differs.
    program = "import sys; sys.version_info = (3, 8, 0); sys.argv = ['start.py']; exec(open('start.py').read())"
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 1
    assert "needs Python 3.11 or newer, this is Python 3.8" in answer.stderr


@pytest.mark.parametrize("arguments", [["--help"], ["tset"]])
def test_help_and_typing_errors_show_the_commands(arguments: list[str], tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "start.py"), *arguments]
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert answer.returncode == (0 if arguments == ["--help"] else 1)
    assert "python3 start.py test" in answer.stdout + answer.stderr
    assert "python3 start.py --language zh" in answer.stdout + answer.stderr
