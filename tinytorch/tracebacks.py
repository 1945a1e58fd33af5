"""Tracebacks in IPython and in notebooks: they end at the user's line, below which torch is C++ and has no frames."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

from .base import PACKAGE_FOLDER


def shorten() -> None:
    """Leave tinytorch's own frames out of the tracebacks of the IPython that runs, if one does.

    A handler of errors that is there already stays. `get_ipython().set_custom_exc((), None)` shows all frames again.
    """
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if shell is not None and not shell.custom_exceptions:
        shell.set_custom_exc((Exception,), _show)


def _show(
    shell: Any, kind: type, error: BaseException, _: object, tb_offset: int | None = None
) -> None:
    for one in [*_chain(error)]:
        one.__traceback__ = without_own(one.__traceback__)
        inner = one.__context__  # NumPy's error, say, of which ours speaks
        one.__suppress_context__ |= inner is not None and without_own(inner.__traceback__) is None
    shell.showtraceback((kind, error, error.__traceback__), tb_offset=tb_offset)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """An error, and those that are shown as having led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def without_own(traceback: TracebackType | None) -> TracebackType | None:
    """Return a traceback without the frames of this package; a user's code that it called, as a hook, stays."""
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    kept = [one for one in frames if not one.tb_frame.f_code.co_filename.startswith(PACKAGE_FOLDER)]
    for one, following in zip(
        kept, [*kept[1:], None], strict=False
    ):  # of none there is no following either
        one.tb_next = following
    return kept[0] if kept else None
