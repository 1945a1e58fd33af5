"""Make docs/what_shares.md: which operations share memory with what they are given, by running them.

python docs/make_what_shares.py            writes it; where PyTorch is installed, it has to agree
python docs/make_what_shares.py --check    writes nothing; says whether it is as it would be made
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import ModuleType

from copylab.copying import DTYPES, LAYOUTS, Shared, SharedMemory, find_all_sharing

import tinytorch

DOCUMENT = Path(__file__).with_name("what_shares.md")
HEAD = """# What shares memory

<!-- Written by `python docs/make_what_shares.py`; do not edit. -->

Does `unfold` copy? Does `flatten`? Each line below was run on tinytorch and on PyTorch, which gave the same. It
makes `y` of a tensor `x`, and then

- **x itself**: `y is x`. Nothing is new, not even the tensor;
- **shared**: `y` is another tensor over memory of `x`: a write through one is seen in the other;
- **a copy**: `y` has memory of its own.

`copylab.compare("unfold", "narrow_copy")` asks more of any of them, by their names in the first column: is the version
counter shared, does a gradient flow back, what does backward give after a write?

Each was run on these tensors of float32, and on the first of them in {dtypes}.
"Not for" lists those for which the operation raises an error. "Always" and "never" are said of these tensors.

"""
WORDS = {"same": "**x itself**", "shares": "shared", "copy": "a copy", "error": "-"}


def find_rows() -> list[SharedMemory]:
    """What tinytorch gives. RuntimeError if PyTorch is installed and gives anything else."""
    rows = find_all_sharing(tinytorch)
    if importlib.util.find_spec("torch") is not None:
        check_against(rows, importlib.import_module("torch"))
    return rows


def check_against(rows: Iterable[SharedMemory], engine: ModuleType) -> None:
    """Raise RuntimeError if another engine gives anything else for an operation."""
    for ours, theirs in zip(rows, find_all_sharing(engine), strict=True):
        if ours != theirs:
            raise RuntimeError(f"{engine.__name__} gives {theirs}, not {ours}")


def make_table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Make a table of Markdown; empty if it has no rows."""
    lines = [" | ".join(["", *cells, ""]).strip() for cells in rows]
    heads = list(heads)
    return "\n".join(["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|", *lines, ""])


def show_code(row: SharedMemory) -> list[str]:
    """Return the name of an operation, and the lines that were run."""
    return [f"`{row.method.name}`", f"`{'; '.join(row.method.code.splitlines())}`"]


def show_results(row: SharedMemory) -> list[str]:
    """Return what an operation gives that always shares or always copies, and for what it raises."""
    found: list[Shared] = sorted(
        set(row.by_layout.values()) - {"error"}, key=lambda result: len(row.list_layouts(result))
    )
    said = WORDS[found.pop()]
    for rarer in found:
        said += f"; {WORDS[rarer]} for {', '.join(row.list_layouts(rarer))}"
    return [said, ", ".join(row.list_layouts("error"))]


def make_columns(
    rows: Iterable[SharedMemory],
    columns: Iterable[str],
    read: Callable[[SharedMemory], Mapping[str, str]],
) -> str:
    """Make the table of operations that depend on what they are given: a column for each tensor."""
    cells = ([*show_code(row), *(WORDS[result] for result in read(row).values())] for row in rows)
    return make_table(["name", "line", *columns], cells)


def make_page(rows: list[SharedMemory]) -> str:
    """Return the whole page."""
    tensors = make_table(
        ["x", "made by"], [[words, f"`{source.code}`"] for words, source in LAYOUTS.items()]
    )
    heads = ["name", "line", "y is", "not for"]
    always, never, depends = (
        [row for row in rows if row.verdict == verdict]
        for verdict in ("always", "never", "depends")
    )
    by_layout = [row for row in depends if row.depends_on_layout]
    by_dtype = [row for row in depends if not row.depends_on_layout]
    parts = [
        HEAD.format(dtypes=", ".join(list(DTYPES)[1:])) + tensors,
        f"## It depends on the layout: {len(by_layout)}\n",
        make_columns(by_layout, LAYOUTS, lambda row: row.by_layout),
        f"## It depends on the dtype: {len(by_dtype)}\n",
        make_columns(by_dtype, DTYPES, lambda row: row.by_dtype),
        f"## Always: {len(always)}\n",
        make_table(heads, [[*show_code(row), *show_results(row)] for row in always]),
        f"## Never: {len(never)}\n",
        make_table(heads, [[*show_code(row), *show_results(row)] for row in never]),
    ]
    return "\n".join(parts)


def main() -> None:
    """Write or check."""
    page = make_page(find_rows())
    if sys.argv[1:] != ["--check"]:
        DOCUMENT.write_text(page, encoding="utf-8")
    elif DOCUMENT.read_text(encoding="utf-8") != page:
        sys.exit(f"not current: {DOCUMENT.name}")


if __name__ == "__main__":
    main()
