"""Where Graphviz comes from: each way gives way to the next where it is missing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import wasmtime
from guards import ROOT

from tinytorch.viz.draw import layout

PROGRAM = """
import tinytorch as torch
from tinytorch.viz import graph
x = torch.ones(2, requires_grad=True)
print(*graph((x * x).sum())._repr_mimebundle_())
"""


def test_without_a_home_that_can_be_written_it_is_compiled_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    class Refuses(wasmtime.Config):
        def __setattr__(self, name: str, value: object) -> None:
            if name == "cache":
                raise wasmtime.WasmtimeError("no home to write to")
            super().__setattr__(name, value)

    monkeypatch.setattr(wasmtime, "Config", Refuses)
    layout._wasm.cache_clear()
    assert layout.render("digraph{a->b}").startswith("graph ")
    layout._wasm.cache_clear()


@pytest.mark.parametrize("error", ["ImportError", "RuntimeError", "OSError"])
def test_a_wasmtime_that_does_not_fit_the_machine_is_as_good_as_none(error: str, tmp_path: Path) -> None:
    (tmp_path / "wasmtime.py").write_text(f"raise {error}('unsupported platform')\n", encoding="utf-8")
    env = os.environ | {"PATH": "", "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=env)
    assert (done.stdout, done.stderr) == ("text/plain\n", "")


def test_a_dot_that_cannot_be_started_is_as_good_as_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "dot").write_bytes(b"\x7fELF for another processor")
    (tmp_path / "dot").chmod(0o755)
    monkeypatch.setattr(layout, "_wasm", lambda: None)
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
