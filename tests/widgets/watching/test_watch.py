"""What a watch says of programs, against what a run without it does.

A program's gradient is wrong if it differs from that of a run in which each saved tensor was saved as a copy.
"""

import importlib
import re
import runpy
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import copylab
import pytest

ENGINES = ("tinytorch", "torch")
HERE = Path(__file__).parent


class Program(NamedTuple):
    name: str
    files: dict[str, str]
    torch_alone: bool


def programs() -> Iterator[Program]:
    parts = re.split(r"^== (.*)\n", (HERE / "programs.txt").read_text(), flags=re.MULTILINE)[1:]
    files: dict[str, str] = {}
    name = ""
    for title, text in zip(parts[::2], parts[1::2], strict=True):
        other = re.fullmatch(r"file (\w+): (.*)", title)
        if other:
            files, name = {other[1]: text}, title
        else:
            files = (
                {**files, "main": text} if title == "main" else {"main": "import torch\n" + text}
            )
            name = name if title == "main" else title
            yield Program(name, files, title.startswith("torch:"))


class Run(NamedTuple):
    grads: list[list[float]]
    error: str
    notes: list[str]


def run(program: Program, engine: str, folder: Path, context: Any) -> Run:
    for name, text in program.files.items():
        swapped = text.replace("import torch\n", f"import {engine} as torch\n")
        (folder / f"{name}.py").write_text(swapped)
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    try:
        with context:
            names = runpy.run_path(str(folder / "main.py"))
    except RuntimeError as error:
        return Run([], str(error), getattr(error, "__notes__", []))
    return Run([g.detach().tolist() for g in names["grads"]], "", [])


def line(files: dict[str, str], mark: str, engine: str = "torch") -> tuple[str, int] | None:
    marks = (f"  # {mark}", f"  # {mark}, in PyTorch")[: 1 + (engine == "torch")]
    for name, text in files.items():
        for number, code in enumerate(text.splitlines(), 1):
            if code.endswith(marks):
                return f"{name}.py", number
    return None


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    return tmp_path


CASES = [
    pytest.param(
        program,
        engine,
        id=f"{engine}: {program.name}",
        marks=[pytest.mark.torch] * (engine == "torch"),
    )
    for program in programs()
    for engine in ENGINES[program.torch_alone :]
]


@pytest.mark.parametrize(("program", "engine"), CASES)
def test_a_watch_says_what_a_run_shows(program: Program, engine: str, folder: Path) -> None:
    torch = importlib.import_module(engine)
    hooks = importlib.import_module(f"{engine}.autograd.graph").saved_tensors_hooks
    alone = run(program, engine, folder, warnings.catch_warnings())
    copies = run(program, engine, folder, hooks(lambda t: t.detach().clone(), lambda t: t))
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        watch = copylab.watch()
        watched = run(program, engine, folder, watch)
    assert watched[:2] == alone[:2], "a watch changes neither gradients nor errors"
    wrong = not alone.error and alone.grads != copies.grads
    said = [one for one in warned if one.category is copylab.GradientWarning]
    # A second derivative reads what the first one has read: it is the same write, and told twice.
    writes = {(f.silent, f.saved, f.written) for f in watch.findings}
    assert [silent for silent, *_ in writes] == ([False] if alone.error else [True] * wrong), watch
    assert len(said) == (0 if alone.error else len(watch.findings))
    for finding in watch.findings:
        assert place(finding.saved) == line(program.files, "S", engine)
        assert place(finding.written) == line(program.files, "W", engine)
        if alone.error:
            (note,) = watched.notes
            assert [line.strip() for line in note.splitlines()] == [
                "Seen by copylab.watch:",
                *finding.lines.splitlines(),
            ]
        assert ("optimizer" in finding.way_out) == (
            "opt.step()" in finding.written.code if finding.written else False
        )
    assert torch.is_grad_enabled()


def place(where: Any) -> tuple[str, int] | None:
    return None if where is None else (Path(where.file).name, where.line)


def test_programs_are_of_all_kinds() -> None:
    many = list(programs())
    assert len(many) >= 40
    assert sum(len(program.files) > 1 for program in many) >= 10
    marks = [line(program.files, "W") is not None for program in many]
    assert 10 < sum(marks) < len(many) - 10
