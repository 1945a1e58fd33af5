"""Programs that are run under a watch, with lines that findings can quote."""

import linecache
from types import ModuleType
from typing import Any

from copylab.watching import Watch, watch


def run_with_lines(
    engine: ModuleType, source: str, **others: Any
) -> tuple[Watch, Any, dict[str, Any]]:
    """Run a program under a watch, with lines that findings can quote."""
    name = f"<program {hash(source)}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    engine.manual_seed(0)
    names: dict[str, Any] = {"torch": engine, **others}
    error: Any = None
    with watch(silent="record") as watched:
        try:
            exec(compile(source, name, "exec"), names)
        except RuntimeError as raised:
            error = raised
    return watched, error, names
