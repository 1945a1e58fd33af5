"""Write the solution notebooks from the lessons and what the package defines for them.

    python tools/make_solutions.py               all
    python tools/make_solutions.py 02_clone      those whose name holds this
    python tools/make_solutions.py --check       say which are out of date; run and change nothing

Nothing is written by hand: predictions are committed with the answers that a run gives, exercises
with their solution, and every listed wrong answer is there with what the check says to it.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

from copylab.course import cheatsheet
from copylab.course.solutions import make_solution
from execute_notebooks import (
    NOTEBOOKS,
    execute_notebook,
    list_lessons,
    normalise_notebook,
)
from project_files import read_notebook

import tinytorch

FOLDER = NOTEBOOKS / "solutions"


def render_index() -> str:
    """Return the README of the folder."""
    links = []
    for path in list_lessons():
        title = path.stem.replace("_", " ", 1)
        links.append(f"- [{title}]({path.name})")
    return (
        "# Solutions\n\n"
        "Generated from the definitions that the lessons use, and run like them. For every exercise: "
        "one solution, and\nwhat the check says to the wrong answers that are expected. Try first.\n\n"
        + "\n".join(links)
        + "\n"
    )


def cell_sources(notebook: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what of a notebook does not come from its run: ids and sources."""
    return [(cell["id"], "".join(cell["source"])) for cell in notebook["cells"]]


def main(argv: list[str] | None = None) -> int:
    """Write or check the solutions; see the module's text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only those whose name holds this")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if one is not what it should be"
    )
    options = parser.parse_args(argv)
    status = 0
    for path in list_lessons(options.pattern):
        target = FOLDER / path.name
        solution = make_solution(path)
        if options.check:
            if not target.exists() or cell_sources(read_notebook(target)) != cell_sources(solution):
                print(
                    f"solutions/{path.name} is out of date; run: python tools/make_solutions.py {path.stem}"
                )
                status = 1
            continue
        # Written before it runs, too: it is run as a file.
        FOLDER.mkdir(exist_ok=True)
        target.write_text(normalise_notebook(solution), encoding="utf-8", newline="\n")
        text = normalise_notebook(execute_notebook(target))
        target.write_text(text, encoding="utf-8", newline="\n")
        print(f"stored solutions/{path.name}")
    if not options.check:
        (FOLDER / "README.md").write_text(render_index(), encoding="utf-8", newline="\n")
        (FOLDER.parent / "cheat_sheet.html").write_text(
            cheatsheet.render_cheat_sheet(tinytorch), encoding="utf-8", newline="\n"
        )
    return status


if __name__ == "__main__":
    sys.exit(main())
