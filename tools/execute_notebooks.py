"""Run the lessons and store what they print, in one form that does not change from run to run.

    python tools/execute_notebooks.py               all lessons
    python tools/execute_notebooks.py 02_clone      those whose name holds this
    python tools/execute_notebooks.py --check       say which are not in the stored form; change nothing

Times, the kernel's version and other people's metadata are left out; cell ids stay as they are. A
lesson in which a cell raises an error (without the tag ``raises-exception``) is not written.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from project_files import ROOT, read_notebook

NOTEBOOKS = ROOT / "notebooks"

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
SECONDS = 60
VIEW = "application/vnd.jupyter.widget-view+json"  # a random id of a live view; its static twin is stored, too


def list_lessons(pattern: str = "", folder: Path = NOTEBOOKS) -> list[Path]:
    """List the lessons of a folder in order of their names, with `pattern` those that have it in their name."""
    return [p for p in sorted(folder.glob("*.ipynb")) if pattern in p.stem]


def normalise_notebook(notebook: dict[str, Any]) -> str:
    """Return the notebook's text in the stored form, whichever program saved it; the argument is changed too."""
    count = 0
    for cell in notebook["cells"]:
        # Of a cell's metadata only its tags stay, and whether JupyterLab shows its code folded.
        tags, folded = (
            cell["metadata"].get("tags"),
            cell["metadata"].get("jupyter", {}).get("source_hidden"),
        )
        cell["metadata"] = ({"tags": tags} if tags else {}) | (
            {"jupyter": {"source_hidden": True}} if folded else {}
        )
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
        if cell["cell_type"] != "code":
            continue
        ran = cell["execution_count"] is not None
        count += ran
        cell["execution_count"] = count if ran else None
        for output in cell["outputs"]:
            if "execution_count" in output:
                output["execution_count"] = cell["execution_count"]
            if "metadata" in output:
                output["metadata"] = {}
            if "data" in output:
                output["data"].pop(VIEW, None)
            if "text" in output:
                output["text"] = "".join(output["text"]).splitlines(keepends=True)
    whole = {"cells": notebook["cells"], "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def execute_notebook(path: Path) -> dict[str, Any]:
    """Run all cells of a lesson in a fresh kernel of this Python and return it with its outputs.

    Raises nbclient's CellExecutionError for an error, CellTimeoutError for a cell that takes a
    minute.
    """
    import nbformat
    from nbclient import NotebookClient

    client = NotebookClient(
        nbformat.read(path, as_version=4),  # type: ignore[no-untyped-call]
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        store_widget_state=False,
        record_timing=False,
        coalesce_streams=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        # The stored output must not say what somebody has solved here.
        own = os.environ | {"COPYLAB_PROGRESS": str(Path(folder, "progress.json"))}
        done: dict[str, Any] = json.loads(nbformat.writes(client.execute(env=own)))  # type: ignore[no-untyped-call]
    return done


def main(argv: list[str] | None = None) -> int:
    """Run or check the lessons; see the module's text."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pattern", nargs="?", default="", help="only lessons whose name holds this")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if one is not in that form"
    )
    options = parser.parse_args(argv)
    status = 0
    for path in list_lessons(options.pattern):
        old = path.read_text(encoding="utf-8")
        new = normalise_notebook(read_notebook(path) if options.check else execute_notebook(path))
        if new == old:
            continue
        if options.check:
            print(
                f"{path.name} is not in the stored form; run: python tools/execute_notebooks.py {path.stem}"
            )
            status = 1
        else:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"stored {path.name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
