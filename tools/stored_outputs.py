#!/usr/bin/env python3
"""Refuse notebooks whose stored outputs cannot be those of one clean run. A hook of pre-commit.

    python tools/stored_outputs.py lesson.ipynb other.ipynb

It reads and runs nothing: each cell has been run, the numbers of their runs rise from top to bottom, and an error is
only where the tag `raises-exception` expects it. A cell with the tag `nbval-skip` or `skip-execution` is passed over.
The exit status is 1 if anything was found. Standard library alone: pre-commit runs it with whatever Python is there.
"""

import json
import sys
from pathlib import Path
from typing import Any

SKIPPED = {"nbval-skip", "skip-execution"}


def find_faults(notebook: dict[str, Any]) -> list[str]:
    """Return a sentence for each cell, counted from 1, whose outputs cannot be of one clean run."""
    faults = []
    latest = 0
    for number, cell in enumerate(notebook["cells"], 1):
        tags = set(cell.get("metadata", {}).get("tags", ()))
        # The source is one string or a list of lines: both are the format.
        if cell["cell_type"] != "code" or tags & SKIPPED or not "".join(cell["source"]).strip():
            continue
        count = cell.get("execution_count")
        if count is None:
            faults.append(f"cell {number} has not been run")
            continue
        if count <= latest:
            faults.append(f"cell {number} is run {count}, after run {latest}: not from the top")
        latest = max(latest, count)
        failed = any(output["output_type"] == "error" for output in cell["outputs"])
        if failed and "raises-exception" not in tags:
            faults.append(f"cell {number} ends with an error; is it meant? Tag: raises-exception")
    return faults


def main() -> int:
    """Print the faults of the notebooks that are named."""
    found = False
    for name in sys.argv[1:]:
        try:
            faults = find_faults(json.loads(Path(name).read_text("utf-8")))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            faults = [f"is no notebook of format 4: {type(error).__name__}: {error}"]
        for fault in faults:
            found = True
            print(f"{name}: {fault}")
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
