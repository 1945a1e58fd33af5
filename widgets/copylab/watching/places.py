"""Lines of a program: where something was saved, where it was written."""

from __future__ import annotations

import linecache
import os
import sys
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from tinytorch.viz import gettext, shorten_text

from .cells import CELL_NUMBERS

_OPTIMIZER = f"{os.sep}optim"  # torch/optim/sgd.py, tinytorch/optim.py


class Place(NamedTuple):
    """A line of a program: its file, its number, the function it stands in, whether it had an optimizer write."""

    file: str
    line: int
    function: str
    optimizer: bool = False

    @property
    def code(self) -> str:
        """The line as it is written; empty where the source is not known."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def warned_at(self) -> str:
        """The file as a warning is to name it: a cell's has the kernel's process number, which differs in each run."""
        return CELL_NUMBERS.name_of(self.file) or self.file

    def __repr__(self) -> str:
        return (
            f"<{self}>"  # without the process number, too: a notebook may show a list of findings
        )

    def __str__(self) -> str:
        cell = CELL_NUMBERS.name_of(self.file)
        if cell:
            where = gettext("{cell}, line {line}", cell=cell, line=self.line)
        else:
            where = f"{Path(self.file).name}:{self.line}"
        return f"{where}  {shorten_text(self.code, 80)}" if self.code else where


def place_of(frame: FrameType) -> Place:
    """The line that runs in a frame."""
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


class Caller:
    """Finds the line that is running: the innermost one outside of this package and of the engines it is told of."""

    def __init__(self) -> None:
        self._inside: tuple[str, ...] = ()
        self._passed: dict[str, bool] = {}
        self.passes(str(Path(__file__).parent.parent))

    def passes(self, folder: str) -> None:
        """Leave out what stands in a folder."""
        if folder + os.sep not in self._inside:
            self._inside += (folder + os.sep,)
            self._passed = {}  # a new one: other threads may be filling the old one

    def frame(self) -> FrameType | None:
        """The frame of that line; None in a thread without one, as engines have them."""
        frame: FrameType | None = sys._getframe(1)
        passed = self._passed
        while frame is not None:
            file = frame.f_code.co_filename
            passes = passed.get(file)
            if passes is None:
                passes = passed[file] = file.startswith(self._inside)
            if not passes:
                return frame
            frame = frame.f_back
        return None

    def place(self) -> Place | None:
        """That line."""
        return None if (frame := self.frame()) is None else place_of(frame)

    def writer(self) -> Place | None:
        """That line, and whether it called an optimizer."""
        found = self.frame()
        inner, optimizer = sys._getframe(1), False
        while inner is not found and inner is not None:
            optimizer = optimizer or _OPTIMIZER in inner.f_code.co_filename
            inner = inner.f_back  # type: ignore[assignment]
        return None if found is None else place_of(found)._replace(optimizer=optimizer)
