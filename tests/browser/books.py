"""Notebooks for the browser tests, written for the test that opens them."""

import json
import subprocess
import sys
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
    return {
        "cell_type": "code",
        "metadata": {},
        "source": source,
        "outputs": [],
        "execution_count": None,
    }


def stepping(program: str = PROGRAM, engine: str = "tinytorch") -> tuple[str, str]:
    """The two cells that step through `program` with `engine`."""
    return f"import {engine} as torch\nfrom copylab import steps", f"steps('''\n{program}''')"


def page_of(notebook: Path, folder: Path) -> str:
    """Convert a notebook as it is stored to a page that asks the network for nothing. Gives its address."""
    out = folder / "page.html"
    command = [sys.executable, "-m", "nbconvert", "--to", "html", f"--output={out}", str(notebook)]
    nowhere = [
        "--HTMLExporter.mathjax_url=",
        "--HTMLExporter.require_js_url=",
        "--HTMLExporter.jquery_url=",
    ]
    subprocess.run([*command, *nowhere], check=True, capture_output=True)
    return out.as_uri()
