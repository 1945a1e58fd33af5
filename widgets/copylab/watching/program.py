"""`copylab watch train.py`: a program under a watch, without an edit."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Sequence
from html import escape
from pathlib import Path
from types import TracebackType

from ..run import script_session
from ..wording import current_language, gettext
from .observer import Watch, watch

_OWN_FILES = (__file__, runpy.__file__, "<frozen runpy>")


def run_watched(
    program: str, arguments: Sequence[str], *, is_module: bool = False, report: str | None = None
) -> int:
    """Run a program as Python runs it, under a watch; return the exit status.

    program: a file or, with `is_module`, the name of a module. arguments: what it finds in
    `sys.argv`. report: a page is written there at the end, also after an error.

    What the watch found is printed to the error stream, so that the program's own output is as it
    is. The status is the program's (2 if there is none of that name); where that is 0, it is 1 if
    a gradient was spoiled or an optimizer steps what gets none, and 2 if the report could not be
    written.
    """
    # "record": a program that turns warnings into errors runs on as without the watch.
    with watch(silent="record") as watched:
        status = _run_as_main(program, arguments, is_module)
    sys.stdout.flush()
    print(f"copylab watch: {watched.text}", file=sys.stderr)
    if report is not None and not _write_report(watched, report, program):
        return status or 2
    has_fault = any(each.is_fault for each in watched.missing_gradients)
    return status or int(bool(watched.findings) or has_fault)


def _run_as_main(program: str, arguments: Sequence[str], is_module: bool) -> int:
    """Run a program as `__main__`; return its exit status. Its error is printed as Python does."""
    try:
        with script_session(program, arguments, is_module=is_module):
            if is_module:
                runpy.run_module(program, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(program, run_name="__main__")
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:  # noqa: BLE001 - an interrupt ends the program, not the report
        trace = _without_own_frames(error.__traceback__)
        if trace is None and isinstance(error, OSError | ImportError):
            print(f"copylab watch: {error}", file=sys.stderr)  # there is no such program
            return 2
        # By the hook that the program may have set.
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the program's first frame on; None if it never began."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _OWN_FILES:
        trace = trace.tb_next
    return trace


def _write_report(watched: Watch, report: str, program: str) -> bool:
    """Write a page with what was found, which needs no network. False, and a message, on an error."""
    title = gettext("copylab watch: {program}", program=program)
    page = (
        f'<!doctype html>\n<html lang="{current_language() or "en"}">\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{escape(title)}</title>\n'
        "<style>:root { color-scheme: light dark } "
        "body { max-width: 60em; margin: 2em auto; padding: 0 1em; font: 16px sans-serif }</style>\n"
        f"<h1>{escape(title)}</h1>\n{watched.html}\n</html>\n"
    )
    try:
        Path(report).write_text(page, encoding="utf-8")
    except OSError as error:
        print(
            gettext("The report could not be written: {error}", error=str(error)), file=sys.stderr
        )
        return False
    return True
