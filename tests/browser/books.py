"""Notebooks for the browser tests, written for the test that opens them."""

import json
from pathlib import Path

PROGRAM = """\
import torch
x = torch.ones(3, requires_grad=True)
y = x.clone()
z = y.detach()
w = (y * y).sum()
z.add_(1)
w.backward()
"""


def write(folder: Path, name: str, *cells: str) -> str:
    """Write a notebook of these cells; one that starts with `#` and a blank is text. Gives its name back."""
    made = [_text(cell) if cell.startswith("# ") else _code(cell) for cell in cells]
    kernel = {"name": "python3", "display_name": "Python 3"}
    book = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    (folder / name).write_text(json.dumps(book), "utf-8")
    return name


def _text(source: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _code(source: str) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "source": source, "outputs": [], "execution_count": None}


def stepping(program: str = PROGRAM, engine: str = "tinytorch") -> tuple[str, str]:
    """The two cells that step through `program` with `engine`."""
    return f"import {engine} as torch\nfrom copylab import steps", f"steps('''\n{program}''')"
