"""Notebooks for the browser tests, written for the test that opens them."""

from pathlib import Path

import nbformat

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
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    new = {True: nbformat.v4.new_markdown_cell, False: nbformat.v4.new_code_cell}
    made.cells = [new[cell.startswith("# ")](cell) for cell in cells]
    nbformat.write(made, folder / name)
    return name


def stepping(engine: str, program: str = PROGRAM) -> tuple[str, str]:
    """The two cells that step through `program` with `engine`."""
    return f"import {engine} as torch\nfrom copylab import steps", f"steps('''\n{program}''')"
