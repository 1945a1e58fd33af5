"""`copylab steps train.py`: what each line of a program changed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from ..installed import is_installed
from ..run import LIMITS, script_session
from ..wording import gettext
from .player import steps

# A program takes longer than a cell: the first optimizer alone imports what took PyTorch seven seconds
# on a busy machine. Ctrl-C ends it earlier, and keeps its steps.
SECONDS = 120.0


def print_steps(
    program: str,
    arguments: Sequence[str],
    *,
    rounds: int | None = None,
    max_steps: int = LIMITS.max_steps,
    seconds: float = SECONDS,
    report: str | None = None,
) -> int:
    """Step through a program and print what each line changed; return the exit status.

    program: a file. arguments: what it finds in `sys.argv`. rounds: so many of each loop are
    stepped. max_steps, seconds: it ends there, and says so. report: the player is written there, as a page.

    It runs with PyTorch where that is installed, otherwise with tinytorch, and says which. The
    status is 1 if the program ended in an error or computed a wrong gradient, and 2 if it could
    not be read, a limit is not positive or the report could not be written.
    """
    engine = importlib.import_module("torch" if is_installed("torch") else "tinytorch")
    try:
        code = Path(program).read_text("utf-8")
        with script_session(program, arguments):
            run = steps(code, engine=engine, rounds=rounds, max_steps=max_steps, seconds=seconds)
    except (OSError, ValueError) as error:  # no such file, or no such limit
        print(f"copylab steps: {error}", file=sys.stderr)
        return 2
    print(run)
    if engine.__name__ == "tinytorch":
        print(gettext("It ran on tinytorch, as PyTorch is not installed."))
    if report is not None:
        try:
            run.save(report)
        except (OSError, ValueError) as error:
            print(f"copylab steps: {error}", file=sys.stderr)
            return 2
    return int(run.ended in ("error", "syntax") or any(frame.has_wrong_gradient for frame in run))
