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
"""How long a cell may take."""
# It has the random id of a live view, another one in each run; a static twin is stored, too.
VIEW = "application/vnd.jupyter.widget-view+json"


def list_lessons(pattern: str = "", folder: Path = NOTEBOOKS) -> list[Path]:
    """List the lessons of a folder in order of their names: those whose name has `pattern` in it."""
    return [path for path in sorted(folder.glob("*.ipynb")) if pattern in path.stem]


def normalise_notebook(notebook: dict[str, Any]) -> str:
    """Return the notebook's text in the stored form, whichever program saved it.

    The argument is changed, too.
    """
    executed_cells = 0
    for cell in notebook["cells"]:
        cell["metadata"] = _kept_metadata(cell["metadata"])
        cell["source"] = "".join(cell["source"]).splitlines(keepends=True)
        if cell["cell_type"] != "code":
            continue
        # Counted anew: someone who ran a cell twice stores other numbers.
        if cell["execution_count"] is not None:
            executed_cells += 1
            cell["execution_count"] = executed_cells
        for output in cell["outputs"]:
            _normalise_output(output, cell["execution_count"])
    whole = {"cells": notebook["cells"], "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _kept_metadata(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return what stays of a cell's metadata: tags, and whether JupyterLab shows its code folded."""
    metadata_to_keep: dict[str, Any] = {}
    if metadata.get("tags"):
        metadata_to_keep["tags"] = metadata["tags"]
    if metadata.get("jupyter", {}).get("source_hidden"):
        metadata_to_keep["jupyter"] = {"source_hidden": True}
    return metadata_to_keep


def _normalise_output(output: dict[str, Any], execution_count: int | None) -> None:
    if "execution_count" in output:
        output["execution_count"] = execution_count
    if "metadata" in output:
        output["metadata"] = {}
    if "data" in output:
        output["data"].pop(VIEW, None)
    # One program stores a text as one string, another as a list of lines.
    if "text" in output:
        output["text"] = "".join(output["text"]).splitlines(keepends=True)


def execute_notebook(path: Path) -> dict[str, Any]:
    """Run all cells of a lesson in English and return it with its outputs; see `run_cells`."""
    return run_cells(read_notebook(path), path.parent)


def run_cells(notebook: dict[str, Any], folder: Path, language: str = "en") -> dict[str, Any]:
    """Run all cells in a fresh kernel of this Python and return the notebook with its outputs.

    folder: where they run. language: of pictures and widgets.
    Raises nbclient's CellExecutionError for an error, CellTimeoutError for a cell that takes
    longer than SECONDS.
    """
    import nbformat
    from nbclient import NotebookClient

    client = NotebookClient(
        nbformat.reads(json.dumps(notebook), as_version=4),  # type: ignore[no-untyped-call]
        timeout=SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        # It has random ids, and a page without a kernel shows the static twins.
        store_widget_state=False,
        record_timing=False,
        # Two prints come as one message or as two, as the kernel's threads happen to run.
        coalesce_streams=True,
    )
    with tempfile.TemporaryDirectory() as aside:
        # Not what somebody has solved here, and not the language that somebody has chosen.
        variables = os.environ | {
            "COPYLAB_PROGRESS": str(Path(aside, "progress.json")),
            "COPYLAB_LANGUAGE": "" if language == "en" else language,
        }
        executed = client.execute(env=variables)
    with_outputs: dict[str, Any] = json.loads(nbformat.writes(executed))  # type: ignore[no-untyped-call]
    return with_outputs


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
        notebook = read_notebook(path) if options.check else execute_notebook(path)
        new = normalise_notebook(notebook)
        if new == old:
            continue
        if options.check:
            command = f"python tools/execute_notebooks.py {path.stem}"
            print(f"{path.name} is not in the stored form; run: {command}")
            status = 1
        else:
            path.write_text(new, encoding="utf-8", newline="\n")
            print(f"stored {path.name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
