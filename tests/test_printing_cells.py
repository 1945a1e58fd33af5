"""In a notebook that nbconvert ran, the output of hooks during backward is below the cell that ran it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from browser.books import write
from printing_cells import CELLS


def _text(output: dict[str, Any]) -> str:
    """What an output says: printed, in pieces that may end within a line, or shown by `display`, as a line."""
    return (
        "".join(output["text"])
        if "text" in output
        else "".join(output["data"]["text/plain"]) + "\n"
    )


def test_each_cell_shows_what_its_backward_prints(tmp_path: Path) -> None:
    book = tmp_path / write(tmp_path, "printing.ipynb", *[cell.source for cell in CELLS])
    paths = os.pathsep.join(filter(None, sys.path))
    convert = [sys.executable, "-m", "nbconvert", "--to", "notebook", "--execute", "--inplace"]
    environment = {**os.environ, "PYTHONPATH": paths}
    subprocess.run([*convert, str(book)], check=True, capture_output=True, env=environment)
    for cell, ran in zip(CELLS, json.loads(book.read_text("utf-8"))["cells"], strict=True):
        printed = warned = ""
        for output in ran["outputs"]:
            if output.get("name") == "stderr":
                warned += _text(output)
            else:
                printed += _text(output)
        assert printed.splitlines() == list(cell.lines), cell.source
        assert cell.warning in warned, cell.source
        assert bool(warned) == bool(cell.warning), warned
