"""`%%steps`, `%%watch` and `%memory`, for notebooks and IPython, by `%load_ext copylab`."""

from __future__ import annotations

import importlib
import symtable
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring

from tinytorch.viz import Picture, collect_tensors_by_name, memory

from ..player import StepOptions, Steps, step_program
from ..run import Limits
from ..watching import Watch, drop_own_frames, watch

_ABSENT = object()  # a notebook's `torch` may be None


def register_magics(shell: Any) -> None:
    """Register the magics with an IPython shell."""
    shell.register_magics(CopylabMagics(shell))


@contextmanager
def _keep_cell_number(shell: Any) -> Iterator[None]:
    """Have cells that are run inside of the one that runs now known by its number.

    IPython has counted that one when it begins to run, and calls a cell inside of it by the next number.
    """
    compiler, number = shell.compile, shell.displayhook.prompt_count
    cache = compiler.cache

    def cache_as_running(transformed_code: str, _number: int = 0, raw_code: Any = None) -> str:
        name: str = cache(transformed_code, number, raw_code)
        return name

    compiler.cache = cache_as_running
    try:
        yield
    finally:
        compiler.cache = cache


@contextmanager
def _show_errors_of_cell(shell: Any) -> Iterator[None]:
    """Have the shell show an error with the traceback that it has without a watch."""
    show = shell.showtraceback

    def show_without_own_frames(*args: Any, **kwargs: Any) -> None:
        drop_own_frames(sys.exception())
        show(*args, **kwargs)

    shell.showtraceback = show_without_own_frames
    try:
        yield
    finally:
        shell.showtraceback = show


@magics_class
class CopylabMagics(Magics):
    """The magics. They work on the names of the notebook."""

    shell: Any

    @magic_arguments()
    @argument(
        "--into",
        default="all",
        help="functions to step into: all (as it is without), none, or names: f,A.m",
    )
    @argument(
        "--rounds",
        type=int,
        help="so many rounds of each loop are stepped, the rest runs in one go",
    )
    @argument(
        "--max-steps",
        type=int,
        default=Limits.max_steps,
        help=f"end the run after so many steps ({Limits.max_steps})",
    )
    @argument(
        "--seconds",
        type=float,
        default=Limits.seconds,
        help=f"end the run after so long ({Limits.seconds:g})",
    )
    @argument(
        "--engine",
        choices=["torch", "tinytorch"],
        help="what the cell knows as torch; else the notebook's torch",
    )
    @cell_magic
    def steps(self, line: str, cell: str) -> Steps:
        """Run the cell statement by statement, and show memory and graph after each.

        It works on the notebook's own names, as any cell does: what it binds stays bound, what it
        writes stays written, also when it ends in an error or at a limit. `torch` is known to the
        cell even where the notebook has none, and is then gone again. Errors are shown at their
        line and not raised. The cell is plain Python: lines with % or ! are syntax errors in it.
        """
        options = parse_argstring(self.steps, line)
        names: dict[str, Any] = self.shell.user_ns
        # Anything else is a list of names: as an argument of a magic it is one word.
        into = {"all": True, "none": False}.get(
            options.into, [name.strip() for name in options.into.split(",")]
        )
        engine = _import_engine(options.engine) if options.engine else None
        torch_before = names.get("torch", _ABSENT)
        try:
            limits = Limits(options.max_steps, options.seconds, options.rounds)
            return step_program(cell, (), {}, names, StepOptions(engine, names, into, limits))
        except (TypeError, ValueError) as error:
            # IPython shows these in one line, without a traceback through copylab.
            raise UsageError(f"%%steps: {error}") from None
        finally:
            # The run binds `torch` for the cell; only what the cell itself binds stays.
            if not _binds_torch(cell):
                if torch_before is _ABSENT:
                    names.pop("torch", None)
                else:
                    names["torch"] = torch_before

    @cell_magic
    def watch(self, line: str, cell: str) -> Watch | None:
        """Run the cell under `copylab.watch()`, and show which lines spoil a gradient.

        The cell runs as without it: its output is shown, what it binds stays bound, an error is
        shown at its line. An error does not stop the cells behind it.
        """
        if line.strip():
            raise UsageError("%%watch takes no arguments: the program begins on the next line")
        shell = self.shell
        with (
            watch(silent="record") as watched,
            _keep_cell_number(shell),
            _show_errors_of_cell(shell),
        ):
            # A comment in place of the line with the magic: lines are counted as in the notebook.
            result = shell.run_cell(f"# %%watch\n{cell}")
        # Of a SyntaxError nothing has run: the error is shown, and there is nothing to add.
        return None if result.error_before_exec else watched

    @line_magic
    def memory(self, line: str) -> Picture | None:
        """Show the memory of tensors: `%memory x y.grad net`, or `%memory` for all of them."""
        names: dict[str, Any] = self.shell.user_ns
        expressions = [word.strip(",") for word in line.split()]
        if not expressions:
            # A picture of nothing would not say why.
            if not collect_tensors_by_name(names):
                print("There is no tensor among the notebook's names.")
                return None
            return memory(names)
        tensors = {}
        for expression in expressions:
            try:
                tensors[expression] = self.shell.ev(expression)
            except Exception as error:  # noqa: BLE001  # an expression may raise anything
                raise UsageError(
                    f"%memory: {expression}: {type(error).__name__}: {error}"
                ) from None
        try:
            return memory(**tensors)
        except TypeError as error:
            raise UsageError(f"%memory: {error}") from None


def _import_engine(name: str) -> ModuleType:
    """Import `torch` or `tinytorch`. UsageError if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UsageError(f"%%steps: {name} is not installed in this environment") from None


def _binds_torch(cell: str) -> bool:
    """Return True if a cell assigns or imports `torch`; False for a cell that is no Python."""
    try:
        # The compiler's own table: it sees `import torch as t`, `for torch in`, `with ... as torch`
        # rightly.
        torch = symtable.symtable(cell, "<cell>", "exec").lookup("torch")
    except (SyntaxError, ValueError, RecursionError, MemoryError, KeyError):
        return False
    return torch.is_assigned() or torch.is_imported()
