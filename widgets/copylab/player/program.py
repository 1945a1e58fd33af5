"""`copylab steps train.py`: what each line of a program changed."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from ..installed import is_installed
from ..run import script_session
from ..wording import gettext
from .player import steps


def print_steps(
    program: str, arguments: Sequence[str], *, rounds: int | None = None, report: str | None = None
) -> int:
    """Step through a program and print what each line changed; return the exit status.

    program: a file. arguments: what it finds in `sys.argv`. rounds: so many of each loop are
    stepped. report: the player is written there, as a page.

    It runs with PyTorch where that is installed, otherwise with tinytorch, and says which. The
    status is 1 if the program ended in an error or computed a wrong gradient, and 2 if it could
    not be read, `rounds` is not positive or the report could not be written.
    """
    engine = importlib.import_module("torch" if is_installed("torch") else "tinytorch")
    try:
        code = Path(program).read_text("utf-8")
        with script_session(program, arguments):
            run = steps(code, engine=engine, rounds=rounds)
    except (OSError, ValueError) as error:  # no such file, or no such number of rounds
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
