"""Lessons for the tests of the course folder, and what a learner does with them."""

import json
from collections.abc import Sequence
from pathlib import Path

from copylab.course.lesson import read_notebook


def lesson(*sources: str, tags: Sequence[str] = ()) -> str:
    """A notebook of code cells, each with an output as it is stored."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{number}",
            "metadata": {"tags": list(tags)} if tags else {},
            "source": source.splitlines(keepends=True),
            "execution_count": number,
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["stored\n"]}],
        }
        for number, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def names(folder: Path) -> list[str]:
    """What a learner sees in the folder."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return sorted(name.as_posix() for name in found if not name.parts[0].startswith("."))


def edit(file: Path, text: str = "mine") -> str:
    """Change a lesson as a learner does; return what it then contains."""
    notebook = read_notebook(file)
    notebook["cells"][0]["source"] = [text]
    file.write_text(json.dumps(notebook), "utf-8")
    return file.read_text("utf-8")
