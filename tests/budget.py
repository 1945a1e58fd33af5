"""Sizes of the parts of the package against their budgets, so that what is small stays small.

    python tests/budget.py               prints them, and ends with 1 if one is above

Lines that were saved by packing more onto each show in the tokens that a line of code has: these have a budget, too.
"""

import sys
import tokenize
from pathlib import Path
from typing import NamedTuple

from guards import ROOT

PACKED = 11.0  # tokens on a line of code, as an average over a part
LISTS = (  # of operations
    "copies,from_data,memory,views,parts,pointwise,reductions,indexing,choosing,creation,linalg,filling"
)


class Part(NamedTuple):
    """What stands in a folder, but for what is left out, and the most lines and files that it may have."""

    name: str
    folder: str
    lines: int
    files: int = sys.maxsize
    without: tuple[str, ...] = ()
    kinds: tuple[str, ...] = (".py",)


PARTS = (
    Part("engine", "tinytorch", 10_436, 50, without=("viz",)),  # on its way to 10,000 lines
    Part(
        "its mechanism",
        "tinytorch",
        6_206,  # on its way to 5,500
        without=("viz", "nn", "optim.py", *(f"ops/{n}.py" for n in LISTS.split(","))),
    ),
    Part("pictures", "tinytorch/viz", 6_339),
    Part("widgets", "widgets/copylab", 15_979, kinds=(".py", ".js", ".css")),
)


def tokens_by_line(path: Path) -> list[int]:
    """Return the lines on which the tokens of a Python file begin; no comments, and a string is one token."""
    rows, inside = [], 0
    with path.open("rb") as source:
        for token in tokenize.tokenize(source.readline):
            kind = tokenize.tok_name[token.type]
            if token.string.strip() and kind not in ("COMMENT", "ENCODING") and not inside:
                rows.append(token.start[0])
            inside += kind.endswith("STRING_START") - kind.endswith("STRING_END")  # Python 3.12 takes f-strings apart
    return rows


def budget(root: Path = ROOT, parts: tuple[Part, ...] = PARTS) -> tuple[list[str], list[str]]:
    """Return the sizes of the parts, a line for each, and in words what is above its budget."""
    sizes, above = [], []
    for part in parts:
        top = root / part.folder
        out = [top / name for name in part.without]
        files = [f for f in top.rglob("*") if f.suffix in part.kinds and not any(map(f.is_relative_to, out))]
        lines = sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files)
        rows = [tokens_by_line(f) for f in files if f.suffix == ".py"]
        packed = sum(map(len, rows)) / max(sum(len(set(one)) for one in rows), 1)
        sizes.append(f"{part.name}: {len(files)} files, {lines:,} lines, {packed:.2f} tokens per line of code")
        if not files:
            above.append(f"{part.name}: nothing stands in {part.folder}")
        found = {"files": (len(files), part.files), "lines": (lines, part.lines), "tokens per line": (packed, PACKED)}
        above += [
            f"{part.name}: {n:,.6g} {what}, the budget is {most:,.6g}" for what, (n, most) in found.items() if n > most
        ]
    return sizes, above


if __name__ == "__main__":
    sizes, above = budget()
    print("\n".join([*sizes, *above]))
    sys.exit(bool(above))
