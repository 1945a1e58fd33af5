"""`copylab watch train.py`: a program under a watch, without an edit."""

from __future__ import annotations

import errno
import linecache
import os
import runpy
import shlex
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from ..doc import indent_text
from ..run import script_session
from ..wording import gettext
from .observer import watch
from .processes import ENDED, RunReports, group_findings
from .tracebacks import drop_own_frames

_OWN_FILES = (__file__, runpy.__file__, "<frozen runpy>")
_STREAM_ERRORS = (OSError, ValueError, AttributeError)
"""What a pipe that is gone, a closed stream, None and a stream without `flush` raise."""
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")


def run_watched(
    program: str, arguments: Sequence[str], *, is_module: bool = False, report: str | None = None
) -> int:
    """Run a program as Python runs it, under a watch; return the exit status.

    program: a file or, with `is_module`, the name of a module; or `torchrun`, whose processes are
    then watched. arguments: what it finds in `sys.argv`. report: a page is written there at the
    end, also after an error. Several ranks write one page.

    What the watch found is printed to the error stream, so that the program's own output is as it
    is. The status is the program's (2 if there is none of that name); where that is 0, it is 1 if
    a gradient was spoiled or an optimizer steps in vain, and 2 if the report could not be
    written; where that is seen at once, the program is not run. Before a rank ends with a status
    that is not its program's, it waits for the other ranks of its machine.
    """
    if report is not None and (error := _try_to_write(Path(report))):
        _report_unwritten_page(report, error)
        return 2
    if _is_launcher(program, is_module):
        return _launch_watched(arguments, report)
    # "record": a program that turns warnings into errors runs on as without the watch.
    with watch(silent="record") as watched:
        title = gettext("copylab watch: {program}", program=program)
        reports = RunReports(watched, report, title)
        status = _run_as_main(program, arguments, is_module)
    if reports.is_child:  # it was forked in the program: the page is not its own
        return status
    reports.write(ENDED)  # first: the program may have closed both streams
    # Before the error stream, or a terminal would show both in another order.
    with suppress(*_STREAM_ERRORS):
        sys.stdout.flush()
    watch_status = _print_findings(reports, report)
    if watch_status and not status:
        reports.wait_for_other_ranks()
    if not (watch_status or status or is_module) and reports.rank is None:
        # Two objects that are one, or a list that grows, spoil no saved tensor: the lines show it.
        command = shlex.join(["copylab", "steps", "--rounds", "1", program, *arguments])
        question = gettext(
            "Still wrong? This says what each line changed: {command}", command=command
        )
        _print_error(f"copylab watch: {question}")
    reports.close()
    return status or watch_status


def _try_to_write(page: Path) -> OSError | None:
    """Return the error that writing a page would end with; None if it can be written."""
    try:
        if page.is_dir():
            return IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=page.parent):
            return None
    except OSError as error:
        return error


def _print_error(text: str) -> None:
    """Print to the error stream, which the program may have closed, replaced or set to None."""
    with suppress(*_STREAM_ERRORS):
        sys.stderr.write(f"{text}\n")  # print would take None for stdout


def _report_unwritten_page(page: str, error: OSError) -> None:
    reason = f"{page}: {error.strerror or error}"  # its own name is that of a draft
    _print_error(gettext("The report could not be written: {error}", error=reason))


def _print_findings(reports: RunReports, page: str | None) -> int:
    """Say what was found; return the status: 1 if something is wrong, 2 if there is no page."""
    from_children = reports.find_reports_of_children()
    rank = "" if reports.rank is None else gettext("rank {rank}", rank=reports.rank.number) + ": "
    _print_error(f"copylab watch: {rank}{reports.watched.text}")
    for shared in group_findings(from_children):
        lines = indent_text(shared.finding.lines)
        _print_error(f"copylab watch: {shared.sentence}\n{lines}")
    if page is not None and reports.error is not None:
        _report_unwritten_page(page, reports.error)
        return 2
    # What had no gradient may be meant to have none: then it is said, and no fault.
    has_fault = any(each.is_fault for each in reports.watched.missing_gradients)
    return int(bool(reports.watched.findings or from_children) or has_fault)


def _is_launcher(program: str, is_module: bool) -> bool:
    """Return True for PyTorch's launcher: the processes that it starts are watched, not itself."""
    return program in _LAUNCHERS if is_module else Path(program).name == "torchrun"


def _launch_watched(arguments: Sequence[str], page: str | None) -> int:
    """Run PyTorch's launcher with a watch in front of the program that it starts."""
    try:
        from torch.distributed.run import get_args_parser
    except ImportError as error:
        _print_error(f"copylab watch: {error}")
        return 2
    del sys.modules[_LAUNCHERS[0]]  # or runpy warns that what it runs is there already
    options = get_args_parser().parse_args(arguments)
    if options.no_python:
        message = gettext("torchrun --no-python: only Python programs are watched.")
        _print_error(f"copylab watch: {message}")
        return 2
    before = arguments[: len(arguments) - len(options.training_script_args) - 1]
    command = ["copylab", "watch", *(["--report", page] if page is not None else [])]
    # The launcher's own `-m` is for copylab then.
    command = [*command, "-m"] if options.module else ["-m", *command]
    program = arguments[len(before) :]
    return _run_as_main(_LAUNCHERS[0], [*before, *command, *program], is_module=True)


def _run_as_main(program: str, arguments: Sequence[str], is_module: bool) -> int:
    """Run a program as `__main__`; return its exit status. Its error is printed as Python does."""
    # A process that has watched one train.py may watch another: findings quote what is there now.
    linecache.checkcache()
    try:
        with script_session(program, arguments, is_module=is_module):
            if is_module:
                runpy.run_module(program, run_name="__main__", alter_sys=True)
            else:
                runpy.run_path(program, run_name="__main__")
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return stop.code or 0
        _print_error(str(stop.code))
        return 1
    except BaseException as error:  # noqa: BLE001 - an interrupt ends the program, not the report
        drop_own_frames(error)
        trace = _without_own_frames(error.__traceback__)
        if trace is None and isinstance(error, OSError | ImportError):
            _print_error(f"copylab watch: {error}")  # there is no such program
            return 2
        # By the hook that the program may have set.
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        # As a shell has it of a program that Ctrl-C ended: 128 and the number of the signal.
        return 130 if isinstance(error, KeyboardInterrupt) else 1
    return 0


def _without_own_frames(trace: TracebackType | None) -> TracebackType | None:
    """Return a traceback from the program's first frame on; None if it never began."""
    while trace is not None and trace.tb_frame.f_code.co_filename in _OWN_FILES:
        trace = trace.tb_next
    return trace
