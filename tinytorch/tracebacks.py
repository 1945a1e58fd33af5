"""Tracebacks in IPython and notebooks that end at the user's line.

In torch, what is below that line is C++ and has no frames.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .base import PACKAGE_FOLDER


def shorten_tracebacks() -> None:
    """Leave tinytorch's own frames out of the tracebacks of the IPython that runs, if one does.

    A handler of errors that is there already stays. `get_ipython().set_custom_exc((), None)` shows
    all frames again.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show_error)


def _show_error(
    shell: Any, kind: type, error: BaseException, _: object, tb_offset: int | None = None
) -> None:
    for part in [*_iterate_causes(error)]:
        part.__traceback__ = remove_own_frames(part.__traceback__)
        # An error of NumPy that was raised inside of tinytorch is not shown: ours says the same.
        inner = part.__context__
        if inner is not None and remove_own_frames(inner.__traceback__) is None:
            part.__suppress_context__ = True
    shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)


def _iterate_causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, and those that are shown as having led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def remove_own_frames(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package.

    A user's code that it called, as a hook, stays.
    """
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    outer = [f for f in frames if not f.tb_frame.f_code.co_filename.startswith(PACKAGE_FOLDER)]
    following: TracebackType | None = None
    for frame in reversed(outer):
        frame.tb_next = following
        following = frame
    return following
