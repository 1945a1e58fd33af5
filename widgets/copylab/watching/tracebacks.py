"""Tracebacks of a program's errors as they are without a watch: without frames of this folder."""

from __future__ import annotations

import linecache
import os
from itertools import pairwise
from pathlib import Path
from types import TracebackType

_FOLDER = f"{Path(__file__).parent}{os.sep}"
_RAISES_AS_ENGINE = "# raises as the engine does"
"""Ends a line of this folder that calls the engine's own code, or raises in its place.

An error of any other of its lines is one of copylab itself, and nothing of it is hidden.
"""


def drop_own_frames(error: BaseException | None) -> None:
    """Take the frames of this folder out of the traceback of an error, and of those it came from."""
    seen_ids: set[int] = set()
    while error is not None and id(error) not in seen_ids:
        seen_ids.add(id(error))
        frames = _list_trace(error.__traceback__)
        if frames and not _is_error_of_own(frames[-1]):
            left = [frame for frame in frames if not _is_own(frame)]
            for outer, inner in pairwise(left):
                outer.tb_next = inner
            # The innermost may be one of ours: PyTorch is called by it, and has no frame.
            if left:
                left[-1].tb_next = None
                error.__traceback__ = left[0]
        error = error.__cause__ or error.__context__


def _list_trace(trace: TracebackType | None) -> list[TracebackType]:
    frames = []
    while trace is not None:
        frames.append(trace)
        trace = trace.tb_next
    return frames


def _is_own(frame: TracebackType) -> bool:
    return frame.tb_frame.f_code.co_filename.startswith(_FOLDER)


def _is_error_of_own(innermost: TracebackType) -> bool:
    """Return True if copylab has raised an error that the engine alone would not raise."""
    if not _is_own(innermost):
        return False
    line = linecache.getline(innermost.tb_frame.f_code.co_filename, innermost.tb_lineno)
    return not line.rstrip().endswith(_RAISES_AS_ENGINE)
