"""Finding Graphviz: what was compiled is kept, and each way gives way to the next where it is missing."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import wasmtime
from project_files import ROOT

from tinytorch.viz.render import layout

# Files that are stored, which no engine has a part in: the short runs leave them out.
pytestmark = pytest.mark.slow

PROGRAM = """
import tinytorch as torch
from tinytorch.viz import graph
x = torch.ones(2, requires_grad=True)
print(*graph((x * x).sum())._repr_mimebundle_())
"""


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An environment in which nothing is stored yet; returns where it will be. The user's cache is beside it."""
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "cache"))
    layout._load_wasm.cache_clear()
    yield tmp_path / "environment" / "share" / "copylab"
    layout._load_wasm.cache_clear()


def _files(folder: Path) -> list[str]:
    """The files in a folder, without what stands for a release of Graphviz in their names."""
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return [re.sub(r"-[0-9a-f]{8}\.", ".", name) for name in found]


def _render_anew() -> str:
    layout._load_wasm.cache_clear()
    return layout.render("digraph{a->b}")


def test_the_next_process_does_not_compile(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = _render_anew()
    assert _files(tmp_path) == ["environment/share/copylab/graphviz.bin"], "and nothing in the home"
    monkeypatch.setattr(wasmtime.Module, "from_file", None)
    assert _render_anew() == made
    assert environment.is_dir()


def test_where_the_environment_cannot_be_written_it_is_stored_in_the_users_cache(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment.parent.parent.write_text("a file, no folder")
    made = _render_anew()
    usual = "Library/Caches/" if sys.platform == "darwin" else ""
    assert _files(tmp_path / "cache") == [f"{usual}copylab/graphviz.bin"]
    monkeypatch.setattr(wasmtime.Module, "from_file", None)
    assert _render_anew() == made


@pytest.mark.stress  # Compiling Graphviz twice takes two seconds.
def test_what_was_stored_for_another_machine_is_made_anew(environment: Path) -> None:
    made = _render_anew()
    (stored,) = environment.iterdir()
    whole = stored.stat().st_size
    stored.write_bytes(b"for another processor")
    assert _render_anew() == made
    assert [file.stat().st_size for file in environment.iterdir()] == [whole]


@pytest.mark.stress  # Here, too.
def test_where_nothing_can_be_written_it_is_compiled_each_time(
    environment: Path, tmp_path: Path
) -> None:
    for folder in (environment.parent.parent, tmp_path / "cache"):
        folder.write_text("a file, no folder")
    assert _render_anew().startswith("graph ")
    assert _render_anew().startswith("graph ")


def test_without_a_home_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", refuse)
    assert [folder.parts[-2:] for folder in layout._folders_for_compiled()] == [
        ("share", "copylab")
    ]


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "OSError"])
def test_a_wasmtime_that_does_not_fit_the_machine_is_as_good_as_none(
    error: str, tmp_path: Path
) -> None:
    (tmp_path / "wasmtime.py").write_text(
        f"raise {error}('unsupported platform')\n", encoding="utf-8"
    )
    env = os.environ | {"PATH": "", "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=env
    )
    assert (done.stdout, done.stderr) == ("text/plain\n", "")


def test_a_dot_that_cannot_be_started_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dot").write_bytes(b"\x7fELF for another processor")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setattr(layout, "_load_wasm", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(layout.LayoutError, match="none was found"):
        layout.render("digraph{a}")


def test_everything_works_in_a_browsers_kernel() -> None:
    command = [sys.executable, str(ROOT / "tests" / "browser_kernel.py")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "widgets")])}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    assert done.stderr == ""
    assert "FAIL" not in done.stdout
    assert done.stdout.count("ok ") >= 16
    assert done.returncode == 0
