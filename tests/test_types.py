"""What type checkers say of a user's program over tinytorch and copylab; the programs are in `typed/`."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import copylab
import make_stubs
import pytest
from engine.test_op_sheet import ROWS

import tinytorch

TYPED = Path(__file__).parent / "typed"
PROGRAMS = ("training", "revealed", "looking")


class Report(NamedTuple):
    """What a type checker says of a file, by line."""

    errors: dict[int, list[str]]
    revealed: dict[int, str]


def run_mypy(folder: Path, *options: str) -> dict[str, Report]:
    """Check all files of a folder as a user does, in it and without this project's configuration."""
    files = sorted(path.name for path in folder.glob("*.py"))
    cache = (
        f"--cache-dir={folder.parent / 'mypy'}"  # shared: most of the time goes into NumPy's stubs
    )
    command = [sys.executable, "-m", "mypy", "--config-file=", cache, *options, *files]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 1), found.stdout + found.stderr
    reports = {name: Report(defaultdict(list), {}) for name in files}
    for line in found.stdout.splitlines():
        if match := re.fullmatch(r'(\w+\.py):(\d+): note: Revealed type is "(.*)"', line):
            reports[match[1]].revealed[int(match[2])] = without_modules(match[3])
        elif match := re.fullmatch(r"(\w+\.py):(\d+): error: (.*)", line):
            reports[match[1]].errors[int(match[2])].append(match[3])
    return reports


def run_pyright(folder: Path) -> dict[str, Report]:
    """Check all files of a folder, in this environment."""
    command = ["pyright", "--pythonpath", sys.executable, "--outputjson", "."]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    reports = {path.name: Report(defaultdict(list), {}) for path in folder.glob("*.py")}
    for said in json.loads(found.stdout)["generalDiagnostics"]:
        report, line = reports[Path(said["file"]).name], said["range"]["start"]["line"] + 1
        if match := re.fullmatch(r'Type of ".*" is "(.*)"', said["message"]):
            # As mypy simplifies it.
            report.revealed[line] = match[1].replace("int | float | bool", "int | float")
        else:
            report.errors[line].append(said["message"])
    return reports


def without_modules(name: str) -> str:
    """A type as people write it: `list[Tensor]` for `list[tinytorch.tensor.Tensor]`."""
    return re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", name)


def expected(name: str, engine: str = "tinytorch") -> dict[int, str]:
    """The types in the comments of a program, by line."""
    found = {}
    for number, line in enumerate(
        (TYPED / f"{name}.py").read_text(encoding="utf-8").splitlines(), 1
    ):
        if match := re.search(r"reveal_type\(.*\)  # (.*?)(?: \(PyTorch: (.*)\))?$", line):
            found[number] = match[2] if match[2] and engine == "torch" else match[1]
    return found


def copy_programs(folder: Path, names: tuple[str, ...], engine: str = "tinytorch") -> None:
    """Copy programs into a user's folder, with another engine if asked for."""
    for name in names:
        text = (TYPED / f"{name}.py").read_text(encoding="utf-8")
        if engine == "torch":
            text = text.replace("import tinytorch as torch", "import torch").replace(
                "tinytorch", "torch"
            )
        (folder / f"{name}.py").write_text(text, encoding="utf-8")


# A test with pyright would be skipped in most environments: its wheel loads the program when it first runs.
CHECKERS: dict[str, Callable[[Path], dict[str, Report]]] = {
    "mypy": lambda folder: run_mypy(folder, "--strict")
}
if shutil.which("pyright"):
    CHECKERS["pyright"] = run_pyright


def test_stub_is_made_of_the_declarations() -> None:
    stored = make_stubs.TARGET.read_text(encoding="utf-8")
    assert make_stubs.render_stub() == stored, "run `python tools/make_stubs.py`"


def test_stub_declares_nothing_that_is_not_there() -> None:
    found = ast.parse(make_stubs.TARGET.read_text(encoding="utf-8")).body
    (of_tensor,) = (
        node
        for node in found
        if isinstance(node, ast.ClassDef) and node.name == "DeclaredOperations"
    )
    for owner, body in ((tinytorch, found), (tinytorch.Tensor, of_tensor.body)):
        names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
        assert len(names) > 100
        assert {name for name in names if not hasattr(owner, name)} == set()


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_programs_have_types(checker: str, tmp_path: Path) -> None:
    copy_programs(tmp_path, PROGRAMS)
    reports = CHECKERS[checker](tmp_path)
    for name in PROGRAMS:
        report = reports[f"{name}.py"]
        assert report.errors == {}, name
        assert report.revealed == expected(name), name


@pytest.mark.slow
@pytest.mark.parametrize("checker", CHECKERS)
def test_mistakes_are_found(checker: str, tmp_path: Path) -> None:
    copy_programs(tmp_path, ("wrong",))
    errors = CHECKERS[checker](tmp_path)["wrong.py"].errors
    for number, line in enumerate((TYPED / "wrong.py").read_text(encoding="utf-8").splitlines(), 1):
        code = line.partition("  # ")[2]
        assert bool(code) == (number in errors), line
        if code and checker == "mypy":
            assert errors[number][-1].endswith(f"[{code}]"), line


def names_of(module: ModuleType) -> list[str]:
    """What a module offers, without the modules that are there because it imports them."""
    inner = {name for name in module.__all__ if isinstance(getattr(module, name), ModuleType)}
    return [name for name in module.__all__ if name not in inner]


@pytest.mark.slow
def test_every_public_name_has_a_type(tmp_path: Path) -> None:
    modules = (
        "",
        ".nn",
        ".nn.functional",
        ".nn.init",
        ".optim",
        ".autograd",
        ".autograd.graph",
        ".cuda",
        ".viz",
    )
    lines = ["import copylab", "import tinytorch.viz", "x = tinytorch.ones(2)"]
    for module in modules:
        inner = f"tinytorch{module}"
        lines += [
            f"reveal_type({inner}.{name})" for name in names_of(importlib.import_module(inner))
        ]
    lines += [f"reveal_type(copylab.{name})" for name in names_of(copylab)]
    lines += [
        f"reveal_type(x.{name})" for name in dir(tinytorch.Tensor) if not name.startswith("_")
    ]
    (tmp_path / "names.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    report = run_mypy(tmp_path, "--strict")["names.py"]
    assert report.errors == {}
    assert len(report.revealed) == len(lines) - 3 > 500
    assert [lines[number - 1] for number, found in report.revealed.items() if found == "Any"] == []


@pytest.mark.stress
@pytest.mark.torch
def test_types_are_those_of_pytorch(tmp_path: Path) -> None:
    """Both take and refuse the same calls, and give the same types, except where PyTorch's own stubs know none."""
    rows = [row for _, row in ROWS]
    head = ["import numpy as np", "import numpy", "import copy"]
    head += [f"{name} = torch.ones(3)" for name in "xyzpquijnbcsmvt"]
    for engine in ("tinytorch", "torch"):
        lines = [f"import {engine} as torch", *head, *[f"reveal_type({row})" for row in rows]]
        (tmp_path / f"rows_{engine}.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    copy_programs(tmp_path, ("revealed", "looking"), "torch")
    reports = run_mypy(tmp_path)
    for name in ("revealed", "looking"):
        assert reports[f"{name}.py"] == Report({}, expected(name, "torch")), name
    ours, theirs = reports["rows_tinytorch.py"], reports["rows_torch.py"]
    start = len(head) + 2
    # When they are run, PyTorch takes these.
    numbers_copied = {start + i for i, row in enumerate(rows) if row.startswith("t.copy_(2")}
    assert set(theirs.errors) - set(ours.errors) == numbers_copied
    # PyTorch's stubs know no type of it; when it is run, both refuse it.
    number_at_least_1d = {start + rows.index("torch.atleast_1d(1)")}
    assert set(ours.errors) - set(theirs.errors) == number_at_least_1d
    assert len(ours.revealed) == len(rows) > 900
    # PyTorch's stubs say that it returns nothing, and it returns a tuple.
    number_unbind_copy = start + rows.index("torch.unbind_copy(x)")
    assert theirs.revealed.pop(number_unbind_copy) == "None"
    for number, found in theirs.revealed.items():
        assert found in ("Any", ours.revealed[number]), rows[number - start]
