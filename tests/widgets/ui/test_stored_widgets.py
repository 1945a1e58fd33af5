"""What notebooks store of widgets: a second run says the same, and a changed word of the engine is noticed."""

import json
import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from browser.books import write
from execute_notebooks import execute_notebook, normalise_notebook
from project_files import ROOT

pytestmark = pytest.mark.slow

SETUP = "import tinytorch as torch\nfrom copylab import CopyLab, compare, exercise, predict, race, steps\n"
PROGRAM = "x = torch.ones(3, requires_grad=True)\\ny = x.clone()"
CELLS = {
    "steps": f"steps('{PROGRAM}')",
    "live": f"steps('{PROGRAM}').live()",
    "boxed": f"import ipywidgets\nipywidgets.HBox([steps('{PROGRAM}').live(), compare('clone')])",
    "magic": f"%load_ext copylab\nget_ipython().run_cell_magic('steps', '', '{PROGRAM}')",
    "CopyLab": "CopyLab()",
    "compare": "compare('clone', 'detach')",
    "predict": f"predict('{PROGRAM}')",
    "exercise": "exercise('stored', 'Make y.', check=lambda y: y == 1, solution='y = 1')",
    "race": "race()",
}
SAY_THE_WORD = {"steps", "live", "boxed", "magic", "CopyLab", "compare"}
WORD = "CloneBackward0"  # which the engine makes of the operation's name
ROW = """clone = op(
    "clone(Tensor self, *, MemoryFormat? memory_format=None)",
    Kernel(copy_array, is_copy=True),"""


def nbval(book: Path, first_on_path: Path | None = None) -> dict[str, bool]:
    """Compare a notebook with what it stores, and return whether each cell was the same."""
    report = book.with_suffix(".xml")
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", f"--junit-xml={report}"]
    options += ["-p", "no:cacheprovider", "-q"]
    path = os.pathsep.join(str(part) for part in [first_on_path, *sys.path] if part)
    own = dict.fromkeys(("IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"), str(book.parent))
    env = os.environ | own | {"PYTHONPATH": path}
    command = [sys.executable, "-m", "pytest", *options, f"--rootdir={book.parent}", str(book)]
    ran = subprocess.run(
        command, cwd=book.parent, env=env, capture_output=True, text=True, check=False
    )
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    cases = list(ET.parse(report).getroot().iter("testcase"))
    assert len(cases) == 1 + len(CELLS), ran.stdout
    return dict(
        zip(["setup", *CELLS], [case.find("failure") is None for case in cases], strict=True)
    )


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with each kind of widget, and its run."""
    folder = tmp_path_factory.mktemp("stored")
    patch = pytest.MonkeyPatch()
    patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    path = folder / write(folder, "widgets.ipynb", SETUP, *CELLS.values())
    path.write_text(normalise_notebook(execute_notebook(path)), "utf-8")
    patch.undo()
    return path


@pytest.mark.stress  # On each change two lessons hold it, which store widgets, too.
def test_a_second_run_is_the_same(book: Path) -> None:
    assert nbval(book) == dict.fromkeys(["setup", *CELLS], True)


def test_every_widget_stores_words_and_a_twin(book: Path) -> None:
    cells = json.loads(book.read_text("utf-8"))["cells"][1:]
    for name, cell in zip(CELLS, cells, strict=True):
        stored = [output["data"] for output in cell["outputs"]]
        assert any("text/html" in data and "text/plain" in data for data in stored), name
        assert (WORD in "".join("".join(data["text/plain"]) for data in stored)) is (
            name in SAY_THE_WORD
        ), name


@pytest.mark.stress
def test_a_changed_word_of_the_engine_is_noticed(book: Path, tmp_path: Path) -> None:
    shutil.copytree(
        ROOT / "tinytorch", tmp_path / "tinytorch", ignore=shutil.ignore_patterns("__pycache__")
    )
    changed = 0
    for file in (tmp_path / "tinytorch").rglob("*.py"):
        text = file.read_text("utf-8")
        if ROW in text:
            file.write_text(text.replace(ROW, f'{ROW} backward="CloneBackward7",'), "utf-8")
            changed += 1
    assert changed, "the engine has this row no more: choose another"
    same = nbval(book, tmp_path)
    # What the form of a prediction knows of the right answers changes, too.
    assert {name for name, held in same.items() if not held} == SAY_THE_WORD | {"predict"}
