"""What Python sets before it runs a program: `sys.argv` and the place where it imports from."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def script_session(
    program: str, arguments: Sequence[str], *, is_module: bool = False
) -> Iterator[None]:
    """Let a program find its arguments and the modules beside it, as `python program` does."""
    argv, path = sys.argv, sys.path[:]
    sys.argv = [program, *arguments]
    # Python puts the program's folder, or for a module the current one, in front.
    sys.path.insert(0, str(Path.cwd() if is_module else Path(program).resolve().parent))
    try:
        yield
    finally:
        sys.argv, sys.path[:] = argv, path
