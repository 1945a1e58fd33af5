"""Write copies of the lessons that run on real PyTorch.

In them `import tinytorch as torch` becomes `import torch`. The stored outputs stay, so that nbval
holds PyTorch to what tinytorch printed. Cells tagged `tinytorch-only` (they show the simulated
second device, say) are left out and counted. Lists per lesson how many cells are left to check.
"""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = "tinytorch-only"

_ENGINE = re.compile(r"^(\s*)import tinytorch as torch\b", re.MULTILINE)
# tinytorch.viz draws the tensors of either engine.
_OTHER = re.compile(r"^\s*(?:import tinytorch|from tinytorch)(?!\.viz\b)", re.MULTILINE)


@dataclass(frozen=True)
class SwappedLesson:
    """A lesson that was copied: how many code cells it has, and how many were left out."""

    name: str
    cells: int
    left_out: int


def swap_notebook(notebook: dict) -> tuple[dict, int]:
    """Return the notebook with its engine swapped and the number of code cells that were left out.

    Raises ValueError if code is there but no engine import, or one that cannot be swapped: such a
    copy would go on running on tinytorch and prove nothing.
    """
    cells, left_out, swaps = [], 0, 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            cells.append(cell)
        elif LEFT_OUT in cell.get("metadata", {}).get("tags", []):
            left_out += 1
        else:
            # A cell that is loaded from JSON may be one string or a list of lines.
            source, count = _ENGINE.subn(r"\1import torch", "".join(cell["source"]))
            if other := _OTHER.search(source):
                raise ValueError(
                    f"cannot swap {other.group().strip()!r}: lessons import the engine as torch"
                )
            swaps += count
            cells.append(cell | {"source": source})
    # A page of prose alone needs no engine.
    if swaps == 0 and any(cell["cell_type"] == "code" for cell in cells):
        raise ValueError("no `import tinytorch as torch` to swap")
    return notebook | {"cells": cells}, left_out


def swap_folder(source: Path, target: Path) -> list[SwappedLesson]:
    """Copy the folder of lessons to `target` (which must not exist) with every engine import swapped.

    Raises ValueError, naming the lesson, where one cannot be swapped.
    """
    shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
    lessons = []
    for path in sorted(target.rglob("*.ipynb")):
        name = path.relative_to(target).as_posix()
        try:
            notebook, left_out = swap_notebook(json.loads(path.read_text(encoding="utf-8")))
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
        path.write_text(json.dumps(notebook, ensure_ascii=False), encoding="utf-8")
        cells = sum(cell["cell_type"] == "code" for cell in notebook["cells"])
        lessons.append(SwappedLesson(name, cells, left_out))
    return lessons
