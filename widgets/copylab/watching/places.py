"""Lines of a program: where a tensor was saved, where it was written."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from tinytorch.viz import shorten_text

from ..run import CELL_NUMBERS, name_of_file
from ..wording import Phrase, gettext_noop
from .scope import find_program_thread

_OPTIMIZER_PATH = f"{os.sep}optim"  # torch/optim/sgd.py, tinytorch/optim.py

_RUNNERS_OF_BACKWARD = ("_engine_run_backward", "_walk")
"""What runs nodes: in torch/autograd/graph.py, in tinytorch/autograd/engine.py."""


class Place(NamedTuple):
    """A line of a program.

    file, line: where it is, the line by its number. function: the function it is part of. optimizer:
    True if it called an optimizer, which wrote.
    """

    file: str
    line: int
    function: str
    optimizer: bool = False

    @property
    def code(self) -> str:
        """The source of the line; empty if it is not known."""
        return linecache.getline(self.file, self.line).strip()

    @property
    def label(self) -> str:
        """What pictures call it: `train.py, line 12` or, of a cell, `In[3], line 12`."""
        return self.phrase.word()

    @property
    def phrase(self) -> Phrase:
        """The label in no language yet, for a record that is shown later."""
        file = name_of_file(self.file)
        return Phrase.of(gettext_noop("{file}, line {line}"), file=file, line=self.line)

    @property
    def file_for_warnings(self) -> str:
        """The file as a warning names it, a cell by its number.

        The file of a cell has the kernel's process number in its name, which differs in each run.
        """
        # Stored outputs would differ by it each time that the notebook is run.
        return CELL_NUMBERS.name_of(self.file) or self.file

    def __repr__(self) -> str:
        # Without the process number, too: a notebook may show a list of findings.
        return f"<{self}>"

    def __str__(self) -> str:
        # Editors make a link of `train.py:12`, and not of the words that pictures have.
        is_cell = CELL_NUMBERS.name_of(self.file) is not None
        label = self.label if is_cell else f"{Path(self.file).name}:{self.line}"
        return f"{label}  {shorten_text(self.code, 80)}" if self.code else label


class NodeLine:
    """The line that ran when a node was made, or called backward. Its `Place` is made for those who ask.

    That takes longer than to note the line, which is done for each node.
    """

    __slots__ = ("_code", "_instruction", "backward")

    def __init__(self, frame: FrameType) -> None:
        self._code, self._instruction = frame.f_code, frame.f_lasti
        self.backward: Any = None
        """The last backward that has read what the node saved, a `BackwardCall`; None without one."""

    @property
    def place(self) -> Place:
        """The place of the line."""
        code, line_nr = self._code, 0
        for start, stop, number in code.co_lines():
            if start <= self._instruction < stop:
                line_nr = number or 0
        return Place(code.co_filename, line_nr, code.co_name)


def place_of(frame: FrameType) -> Place:
    """Return the place of the line that runs in a frame."""
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def find_waiting_frame() -> FrameType | None:
    """Return where the program waits for this thread of an engine; None in a thread of the program's."""
    thread = find_program_thread()
    return None if thread == threading.get_ident() else sys._current_frames().get(thread)


def iterate_callers(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield a frame and its callers; after those of an engine's thread, those that wait for it."""
    outermost = None
    while frame is not None:
        yield frame
        outermost, frame = frame, frame.f_back
    waiting, callers = find_waiting_frame(), []
    while waiting is not None:
        callers.append(waiting)
        waiting = waiting.f_back
    # The frame may itself have been one that waits: then both end at the same frame, and these
    # callers were yielded above.
    if callers and callers[-1] is not outermost:
        yield from callers


class PlaceFinder:
    """Finds the place of the line that runs: the innermost one of the program, outside of the engines."""

    def __init__(self) -> None:
        self._inside_folders: tuple[str, ...] = ()
        # By file name. It is asked for every save and write, and programs have few files.
        self._is_skipped: dict[str, bool] = {}
        # This package, too: hooks of a watch run between the engine and the program.
        self.skip_folder(str(Path(__file__).parent.parent))

    def skip_folder(self, folder: str) -> None:
        """Skip the frames of files in a folder."""
        if folder + os.sep not in self._inside_folders:
            self._inside_folders += (folder + os.sep,)
            self._is_skipped = {}  # a new dict: other threads may be filling the old one

    def skips_file(self, file: str) -> bool:
        """Return True for a file of an engine or of this package."""
        skips = self._is_skipped.get(file)
        if skips is None:
            skips = self._is_skipped[file] = file.startswith(self._inside_folders)
        return skips

    def find_frame(self) -> FrameType | None:
        """Return the frame of the line that runs; None in a thread that runs for none of the program's."""
        # In a thread of the engine's own no frame is the program's: the line is where backward was
        # called.
        return self._skip_engines(sys._getframe(1)) or self._skip_engines(find_waiting_frame())

    def _skip_engines(self, frame: FrameType | None) -> FrameType | None:
        is_skipped = self._is_skipped
        while frame is not None:
            file = frame.f_code.co_filename
            skips = is_skipped.get(file)  # written out: this runs for every save and write
            if not (self.skips_file(file) if skips is None else skips):
                return frame
            frame = frame.f_back
        return None

    def is_in_optimizer(self, frame: FrameType) -> bool:
        """Return True for a frame of an engine's optimizers."""
        return _OPTIMIZER_PATH in frame.f_code.co_filename

    def find_place(self) -> Place | None:
        """Return the place of the line that runs; None if none of the program's does."""
        frame = self.find_frame()
        return None if frame is None else place_of(frame)

    def find_node_line(self) -> NodeLine | None:
        """Return the line that runs as a `NodeLine`: faster than its place."""
        frame = self.find_frame()
        return None if frame is None else NodeLine(frame)

    def find_backward_line(self) -> NodeLine | None:
        """Return the line that called the backward which runs now.

        A Function's backward and a hook are lines of the program, too, and run inside of it.
        """
        for frame in iterate_callers(sys._getframe(1)):
            code = frame.f_code
            if code.co_name in _RUNNERS_OF_BACKWARD and self.skips_file(code.co_filename):
                caller = self._skip_engines(frame)
                return None if caller is None else NodeLine(caller)
        return self.find_node_line()

    def find_writing_place(self) -> Place | None:
        """Return the place of the line that runs and writes, with `optimizer` set if it has called one."""
        frame = self.find_frame()
        inner: FrameType | None = sys._getframe(1)
        by_optimizer = False
        while inner is not frame and inner is not None:
            # Between the write and the line of the program: `optimizer.step()` writes deep inside
            # of torch.
            by_optimizer = by_optimizer or self.is_in_optimizer(inner)
            inner = inner.f_back
        return None if frame is None else place_of(frame)._replace(optimizer=by_optimizer)
