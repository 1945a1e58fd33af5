"""Lines of a notebook's cells: they are called as IPython calls them, and no output has a process number."""

import json
from pathlib import Path

import pytest
from browser.books import write
from execute_notebooks import execute_notebook

pytestmark = pytest.mark.slow

SCALE = "def scale(t):\n    t.data.mul_(2)"
TRAIN = """\
def train():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    z = (y * y).sum()
    scale(y)
    z.backward()"""
RAISE = """\
with watch():
    y = torch.ones(3, requires_grad=True).exp()
    y.mul_(2)
    try:
        y.sum().backward()
    except RuntimeError as error:
        print(error.__notes__[0])"""
CELLS = [
    "from copylab import watch\nw = watch()",
    "w.__enter__()",
    "import {engine} as torch",
    SCALE,
    TRAIN,
    "train()",
    "w.__exit__(None, None, None)\nprint(w.text.partition('  The same')[0])\nw.findings",
    SCALE,
    "print(w.findings[0].lines)",
    RAISE,
    "with watch() as other:\n    pass\nother",
]


@pytest.mark.parametrize("engine", ["tinytorch", pytest.param("torch", marks=pytest.mark.torch)])
def test_cells_are_called_as_ipython_calls_them(engine: str, tmp_path: Path) -> None:
    """A watch that begins in one cell and ends in another, PyTorch imported under it; a cell that was run twice."""
    write(tmp_path, "cells.ipynb", *(cell.replace("{engine}", engine) for cell in CELLS))
    cells = execute_notebook(tmp_path / "cells.ipynb")["cells"]
    said = [
        "".join("".join(part.get("text") or part["data"]["text/plain"]) for part in c["outputs"])
        for c in cells
    ]
    assert "ipykernel_" not in json.dumps(cells)
    lines = (
        "  saved    In[5], line 4  z = (y * y).sum()\n  written  In[4], line 2  t.data.mul_(2)\n"
    )
    assert f"{lines}  reached  In[5], line 6  z.backward()\n" in said[6]
    assert "[<y was changed by In[4], line 2 after In[5], line 4 saved it" in said[6]
    assert "written  In[8], line 2  t.data.mul_(2)\n" in said[8], "the last run counts"
    assert "written  In[10], line 3  y.mul_(2)\n" in said[9]
    assert said[10].startswith("Nothing was checked")
    assert said[5].startswith(
        "In[5]:6: GradientWarning: y was changed by In[4], line 2 after In[5], line 4 saved it"
    )
