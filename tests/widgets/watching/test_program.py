"""`copylab watch train.py`: a program under a watch, `w.start()`, `%%watch`."""

import os
import subprocess
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from copylab.watching import run_watched, watch, watched_backward
from IPython.core.interactiveshell import InteractiveShell

import tinytorch

SPOILED = """
import sys, warnings
import {engine} as torch

x = torch.ones(2, requires_grad=True)
y = x.exp(); part = y[:1]
y.data.mul_(2)
with warnings.catch_warnings(action="error"):
    y.sum().backward()
print(__name__, sys.argv[1:], sys.path[0].endswith("programs"))
"""
SPOILED_BY_COUNT = """
{engine} as torch
y = torch.ones(2, requires_grad=True).exp()
y.mul_(2)
y.sum().backward()
"""
CLEAN = "import tinytorch\nx = tinytorch.ones(2, requires_grad=True)\n(x * x).sum().backward()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "programs").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path / "programs"


def run(folder: Path, source: str, *arguments: str, **options: Any) -> int:
    (folder / "train.py").write_text(source, "utf-8")
    return run_watched("programs/train.py", arguments, **options)


def test_a_program_runs_as_by_python_and_its_lines_are_named(
    folder: Path, engine: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sys.argv, sys.path[:], sys.modules["__main__"]
    status = run(folder, SPOILED.format(engine=engine.__name__), "a", "--b", report="page.html")
    assert status == 1
    printed = capsys.readouterr()
    assert printed.out == "__main__ ['a', '--b'] True\n"
    assert "written  train.py:7  y.data.mul_(2)" in printed.err
    page = Path("page.html").read_text("utf-8")
    assert "train.py:7  y.data.mul_(2)" in page
    assert "image/svg+xml" in page, "two names share memory"
    assert "http" not in page
    assert (sys.argv, sys.path[:], sys.modules["__main__"]) == before


@pytest.mark.parametrize(
    ("ending", "status", "said"),
    [
        ("", 0, "Backward has read 2 saved tensors under this watch; each was as it was saved."),
        (
            "",
            0,
            "\n\ncheck_gradients(step, net) measures whether hooks and Functions give ",
        ),
        ("", 0, "what each line changed: copylab steps --rounds 1 programs/train.py\n"),
        ("raise SystemExit(3)", 3, "each was as it was saved"),
        ("raise SystemExit('no data')", 1, "no data\ncopylab watch: Backward"),
        ("raise KeyboardInterrupt", 130, "KeyboardInterrupt"),
        ("1 / 0", 1, 'Traceback (most recent call last):\n  File "'),
        ("f(", 1, "SyntaxError: '(' was never closed"),
    ],
)
def test_the_status_is_the_programs(
    folder: Path, ending: str, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, CLEAN + ending) == status
    error = capsys.readouterr().err
    assert said in error
    assert "copylab watch: " in error
    assert "runpy" not in error
    assert "copylab/" not in error


ERRORS = [
    "1 / 0",
    "torch.ones(2) @ torch.ones(3)",
    "x.data = 3",
    "torch.ones(2).reshape(3)",
    "y = x.exp(); y.mul_(2); y.sum().backward()",
    "y = x.exp().sum(); y.backward(); y.backward()",
    "x.register_hook(lambda grad: 1 / 0); x.sum().backward()",
]


@pytest.mark.parametrize("line", ERRORS)
def test_an_error_has_the_traceback_that_it_has_without_a_watch(
    engine: ModuleType, line: str
) -> None:
    def list_frames(*, watched: bool) -> list[tuple[str, str]]:
        names = {"torch": engine, "x": engine.ones(2, requires_grad=True)}
        with pytest.raises(Exception) as caught:  # noqa: PT011, PT012
            if watched:
                with watch(silent="record"):
                    exec(line, names)
            exec(line, names)
        frames = traceback.extract_tb(caught.value.__traceback__)[1:]
        named = [(frame.filename, frame.name) for frame in frames]
        # Within tinytorch a saved tensor is read on another way if it has a hook.
        return [each for each in named if f"{os.sep}tinytorch{os.sep}" not in each[0]]

    assert list_frames(watched=True) == list_frames(watched=False)


def test_an_error_of_copylab_itself_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watched_backward.BackwardMeasurement, "is_due", lambda: 1 / 0)
    with pytest.raises(TypeError) as caught, watch():
        tinytorch.ones(2, requires_grad=True).sum().backward()
    assert "observer.py" in str(caught.traceback)


def test_what_cannot_be_run_or_written_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_watched("programs/nowhere.py", []) == 2
    assert run_watched("no_such_module_anywhere", [], is_module=True) == 2
    error = capsys.readouterr().err
    assert "No such file or directory" in error
    assert "No module named no_such_module_anywhere" in error
    assert "Traceback" not in error
    for name, reason in (("nowhere/page.html", "No such file"), ("programs", "Is a directory")):
        assert run(folder, "print('ran')", report=name) == 2
        printed = capsys.readouterr()
        assert f"The report could not be written: {name}: {reason}" in printed.err
        assert printed.out == ""  # before the program runs for hours
    remove = "import shutil\n" + CLEAN + "shutil.rmtree('pages')"
    Path("pages").mkdir()
    assert run(folder, remove, report="pages/page.html") == 2
    assert "written: pages/page.html: No such file" in capsys.readouterr().err


@pytest.mark.parametrize(
    "ending",
    [
        "sys.stdout = type('Tee', (), {'write': print})()",
        "sys.stdout = None",
        "sys.stdout = sys.stderr = open(os.devnull); sys.stdout.close()",
        "sys.stderr = None",
        (
            "reader, writer = os.pipe(); os.close(reader); sys.stdout = os.fdopen(writer, 'w')\n"
            "sys.stdout.write('to nobody')"
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_report_is_written_whatever_became_of_the_streams(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, getattr(sys, name))
    source = SPOILED.format(engine="tinytorch") + "import os\n" + ending
    assert run(folder, source, report="page.html") == 1
    assert "train.py:7  y.data.mul_(2)" in Path("page.html").read_text("utf-8")


def test_the_command_watches_a_file_and_a_module(folder: Path) -> None:
    (folder / "train.py").write_text(SPOILED.format(engine="tinytorch"), "utf-8")
    (folder / "__init__.py").touch()
    for which in (["programs/train.py", "--report"], ["-m", "programs.train", "--report"]):
        ran = subprocess.run(
            [sys.executable, "-m", "copylab", "watch", *which],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1, ran.stderr
        assert ran.stdout.startswith("__main__ ['--report'] ")
        assert "train.py:7  y.data.mul_(2)" in ran.stderr


def test_a_watch_is_started_and_stopped(engine: ModuleType) -> None:
    watched = watch(silent="record").start()
    with pytest.raises(RuntimeError, match="this watch has begun"):
        watched.start()
    x = engine.ones(2, requires_grad=True)
    y = x.exp()
    y.data.mul_(2)
    y.sum().backward()
    assert watched.stop() is watched
    assert watched.stop().ended
    assert len(watched.findings) == 1
    public = [name for name in dir(watched) if not name.startswith("_")]
    names = ["ended", "findings", "html", "missing_gradients", "read_count", "start", "stop"]
    assert public == [*names, "text"]
    assert all(hasattr(watched, name) for name in public)


def test_a_cell_is_watched_by_its_magic(capsys: pytest.CaptureFixture[str]) -> None:
    make: Any = InteractiveShell
    shell = make()
    shell.run_line_magic("load_ext", "copylab")
    cell = SPOILED.format(engine="tinytorch")
    watched = shell.run_cell_magic("watch", "", cell)
    assert [finding.written.line for finding in watched.findings] == [8]
    assert "y" in shell.user_ns
    shell.run_cell("%%watch\n1 / 0", store_history=True)
    assert "ZeroDivisionError" in capsys.readouterr().out
    # In its traceback, too, the cell is all there is of ours: as without a watch.
    raising = f"%%watch\nimport {SPOILED_BY_COUNT.format(engine='tinytorch').strip()}"
    shell.run_cell(raising, store_history=True)
    shown = capsys.readouterr().out
    assert "modified by an inplace operation" in shown
    assert "copylab/watching" not in shown
    result = shell.run_cell("%%watch\nx = = 2", store_history=True)
    shown = capsys.readouterr().out
    assert "SyntaxError" in shown
    assert result.result is None, "nothing ran: the error is all there is to say"
    assert "Nothing was checked" not in shown
    shell.run_cell("%%watch all\n1", store_history=True)
    assert "%%watch takes no arguments" in capsys.readouterr().err
    InteractiveShell.clear_instance()
