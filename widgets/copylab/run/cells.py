"""Names of notebook cells: `In[3]`, as IPython names them in its tracebacks.

The files in which ipykernel has Python find the lines of a cell have a process number in their
names, which differs in each run. IPython knows the cells by the number of their last run. It gives
each the same number if a tool runs them without history, as nbval does to compare what a notebook
has stored. In that case the cells are counted here.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from ..wording import gettext
from .surroundings import running_shell

_CELL_FILE = re.compile(r"[\\/]ipykernel_\d+[\\/]|^<ipython-input")


class CellNumbers:
    """The numbers of the cells that were run without history, by the names of their files."""

    def __init__(self) -> None:
        self.shell: Any = None
        self.count = 0
        self.numbers: dict[str, int] = {}

    def follow_shell(self) -> None:
        """Count cells from now on, if the one that runs now is run without history."""
        shell = running_shell()
        if shell is self.shell or _keeps_history(shell):
            return
        self.shell = shell
        # In the order in which they were first run: Python's dict keeps it.
        self.numbers = {file: number for number, file in enumerate(shell.compile._filename_map, 1)}
        self.count = len(self.numbers)
        shell.events.register("pre_run_cell", self._count_cell)

    def _count_cell(self, info: Any) -> None:
        file = self.shell.compile.get_code_name(info.raw_cell, info.raw_cell, self.count)
        if info.store_history:
            self.numbers.pop(file, None)  # IPython counts it
        else:
            self.count += 1
            self.numbers[file] = self.count

    def name_of(self, file: str) -> str | None:
        """Return the name of the cell whose lines are found in a file; None if it is not a cell."""
        if file in self.numbers:
            return f"In[{self.numbers[file]}]"
        name_of = getattr(getattr(running_shell(), "compile", None), "format_code_name", None)
        label = None if name_of is None else name_of(file)
        if label is not None:
            return str(label[1])
        # A cell of another kernel, or of an IPython that gives it no name.
        return gettext("cell") if _CELL_FILE.search(file) else None


CELL_NUMBERS = CellNumbers()


def name_of_file(file: str) -> str:
    """Return what readers call a file: `train.py`, or of a cell `In[3]`."""
    cell, path = CELL_NUMBERS.name_of(file), Path(file)
    # Every package has a file of that name.
    name = f"{path.parent.name}/{path.name}" if path.name == "__init__.py" else path.name
    return cell or name


def _keeps_history(shell: Any) -> bool:
    """Return True unless the message that asked for the running cell says otherwise."""
    if not hasattr(shell, "get_parent") or not hasattr(
        getattr(shell, "compile", None), "_filename_map"
    ):
        return True
    return bool(shell.get_parent().get("content", {}).get("store_history", True))
