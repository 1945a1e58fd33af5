"""The package as users get it: built, unpacked and imported away from this folder."""

import email
import hashlib
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hatchling.build import build_sdist, build_wheel
from project_files import ROOT

import tinytorch


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
    assert {name.rpartition("/")[2] for name in names - here} >= {
        "METADATA",
        "LICENSE",
        "entry_points.txt",
    }


def test_no_file_is_in_it_twice(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    by_digest: dict[str, list[str]] = {}
    for name in archive.namelist():
        if data := archive.read(name):
            by_digest.setdefault(hashlib.sha256(data).hexdigest(), []).append(name)
    assert [names for names in by_digest.values() if len(names) > 1] == []


def test_the_source_distribution_makes_the_same_wheel(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / build_sdist(str(tmp_path))
    with tarfile.open(source) as archive:
        # Debian 12 has Python 3.11.2; filters came with 3.11.4.
        options: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(tmp_path, **options)
    monkeypatch.chdir(tmp_path / source.name.removesuffix(".tar.gz"))
    (tmp_path / "again").mkdir()
    again = tmp_path / "again" / build_wheel(str(tmp_path / "again"))
    assert again.read_bytes() == wheel.read_bytes()


def test_the_index_shows_nothing_that_leads_nowhere(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    metadata = email.message_from_bytes(archive.read(name))
    shown = metadata.get_payload()
    assert isinstance(shown, str)
    links = re.findall(r"\]\(([^)]*)\)|(?:src|href|srcset)=", shown)
    assert [link for link in links if not link.startswith("https:")] == []
    assert 'pip install "copylab[course]"' in shown
    assert not any(
        word in shown
        for word in ("start.py", "<!-- not", "In an environment of your own", "## More")
    )
    for heading in (
        "## Learn",
        "## Find a wrong gradient",
        "## Teach",
        "## Another tinytorch",
        "## 0.1.0",
    ):
        assert heading in shown


def test_hooks_and_citation_name_the_versions_of_the_project() -> None:
    constraints = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    pinned = {line for line in constraints if line.startswith(("ruff==", "codespell=="))}
    hooks = (ROOT / ".pre-commit-config.yaml").read_text("utf-8")
    assert set(re.findall(r"dependencies: \[(.*)\]", hooks)) == pinned
    version = tinytorch.__version__
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("file", "theirs"),
    [
        ("__init__.py", "__version__ = '1'\n"),
        ("__init__.py", "from .core import Tensor\n"),
        # Another tinytorch was uninstalled, and took the file that both had.
        ("storage.py", "import tinytorch.viz\n"),
    ],
)
def test_another_tinytorch_is_told_plainly(file: str, theirs: str, tmp_path: Path) -> None:
    other = tmp_path / "tinytorch" / file
    other.parent.mkdir()
    other.write_text(theirs, encoding="utf-8")
    # Without the .pth file of an editable install, which finds ours after a folder without `__init__.py`.
    program = "import sys; sys.path[:0] = sys.argv[1:]; import copylab"
    command = [sys.executable, "-S", "-c", program, str(tmp_path), str(ROOT / "widgets")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    last = answer.stderr.strip().splitlines()[-1]
    assert last.startswith("ImportError: copylab needs the tinytorch that comes with it")
    assert str(other if file == "__init__.py" else other.parent) in last


def test_unpacked_wheel_imports_alone(wheel: Path, tmp_path: Path) -> None:
    installed = tmp_path / "installed"
    zipfile.ZipFile(wheel).extractall(installed)
    # -S leaves out the .pth file by which an editable install would bring this folder back.
    program = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "import tinytorch, copylab, copylab.course.lesson\n"
        "print(tinytorch.__file__, copylab.__file__, copylab.course.lesson.lessons_folder(), sep='\\n')"
    )
    paths = [str(installed), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    command = [sys.executable, "-I", "-S", "-c", program, *paths]
    answer = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert answer.returncode == 0, answer.stderr
    assert all(line.startswith(str(installed)) for line in answer.stdout.splitlines())
    # Pictures have their own catalogue; copylab's is read when copylab is, in the language chosen before.
    speaks = (
        "import sys; sys.path[:0] = sys.argv[1:]\n"
        "from tinytorch import ones, viz\n"
        "viz.set_language('zh')\n"
        "print(viz.memory(x=ones(2)).text, 'copylab' in sys.modules)\n"
        "from copylab import wording\n"
        "print(wording.gettext('Memory'), wording.gettext('Step {number} of {count}', number=1, count=2))"
    )
    command = [sys.executable, "-X", "utf8", "-I", "-S", "-c", speaks, *paths]
    answer = subprocess.run(
        command, capture_output=True, encoding="utf-8", check=True, cwd=tmp_path
    )
    alone, together = answer.stdout.splitlines()[-2:]
    assert alone.endswith(" False")
    assert "\u7248\u672c" in alone
    assert together == "\u5185\u5b58 \u7b2c 1 \u6b65\uff0c\u5171 2 \u6b65"


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
    "tinytorch.viz.render.digraph.GraphPicture",
    "tuple[tinytorch.viz.diagnose.finding_records.BackwardFinding, ...]",
]


@pytest.mark.slow
def test_users_of_the_wheel_have_types(wheel: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "env", symlinks=True)
    (packages,) = (tmp_path / "env").glob("lib/python*/site-packages")
    zipfile.ZipFile(wheel).extractall(packages)
    (tmp_path / "user.py").write_text(USERS_FILE, encoding="utf-8")
    interpreter = f"--python-executable={tmp_path}/env/bin/python"
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={tmp_path}",
        interpreter,
    ]
    answer = subprocess.run(
        [*command, "user.py"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert re.findall(r'Revealed type is "(.*)"', answer.stdout) == REVEALED
    assert answer.stdout.endswith("Success: no issues found in 1 source file\n")
