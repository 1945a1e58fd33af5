"""The package as users get it: built, unpacked and imported away from this folder."""

import re
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest
from guards import ROOT
from hatchling.build import build_wheel


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)
    return tmp_path / build_wheel(str(tmp_path))


def test_wheel_holds_engine_widgets_and_lessons(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    here = {
        target + path.relative_to(source).as_posix()
        for source, target in {
            ROOT / "tinytorch": "tinytorch/",
            ROOT / "widgets" / "copylab": "copylab/",
            ROOT / "notebooks": "copylab/notebooks/",
        }.items()
        for path in source.rglob("*")
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & set(path.parts)
    }
    assert {"tinytorch/__init__.py", "copylab/__init__.py"} <= here
    assert any(name.startswith("copylab/notebooks/") and name.endswith(".ipynb") for name in here)
    assert {name for name in names if ".dist-info/" not in name} == here
    assert {name.rpartition("/")[2] for name in names - here} >= {"METADATA", "LICENSE", "entry_points.txt"}


def test_unpacked_wheel_imports_alone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    # -S leaves out the .pth file by which an editable install would bring this folder back.
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import tinytorch, copylab, copylab.course.folder\n"
        "print(tinytorch.__file__, copylab.__file__, copylab.course.folder.lessons(), sep='\\n')"
    )
    paths = [str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    command = [sys.executable, "-I", "-S", "-c", program, *paths]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert all(line.startswith(str(installed)) for line in answer.stdout.splitlines())


USERS_FILE = """
import tinytorch as torch
from tinytorch.viz import Snapshot, explain, graph, memory, modules, snapshot

x = torch.ones(2, requires_grad=True)
net = torch.nn.Linear(2, 1)
with modules(net):
    y = net(x).sum()
before: Snapshot = snapshot(x, y, params=net.named_parameters())
reveal_type(before.tensors[0].shape)
reveal_type(before.nodes[0].module)
reveal_type(memory(x=x, y=y, since=before, values=False).save("a.svg"))
reveal_type(graph(y, since=before).svg)
reveal_type(graph(y))
reveal_type(explain(y).findings)
"""
REVEALED = [
    "tuple[int, ...] | None",
    "str | None",
    "pathlib.Path",
    "str",
    "tinytorch.viz.draw.digraph.GraphPicture",
    "tuple[tinytorch.viz.causes.Finding, ...]",
]


@pytest.mark.slow
def test_users_of_the_wheel_have_types(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    (tmp_path / "user.py").write_text(USERS_FILE, encoding="utf-8")
    interpreter = f"--python-executable={tmp_path}/env/bin/python"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", interpreter]
    answer = subprocess.run([*command, "user.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert re.findall(r'Revealed type is "(.*)"', answer.stdout) == REVEALED
    assert answer.stdout.endswith("Success: no issues found in 1 source file\n")
