"""Which of PyTorch's names tinytorch has, read off the code.

python -m tinytorch.compatibility                    what tinytorch has, place by place
python -m tinytorch.compatibility --against torch    the same beside what it leaves out, with the PyTorch installed here
"""

from __future__ import annotations

import argparse
import importlib
from types import ModuleType
from typing import Any

PLACES = ("torch", "torch.Tensor", "torch.autograd", "torch.linalg", "torch.special", "torch.nn", "torch.nn.functional", "torch.nn.init",
          "torch.nn.utils", "torch.optim", "torch.optim.lr_scheduler", "torch.utils.data", "torch.func", "torch.cuda")  # fmt: skip
OWN = {"torch": {"viz"}, "torch.cuda": {"simulate", "transfers"}}  # what PyTorch does not have


def _at(engine: str, place: str) -> Any:
    package = importlib.import_module(engine)
    where: Any = package
    for name in place.split(".")[1:]:
        found = getattr(where, name, None)
        where = found if found is not None else importlib.import_module(f"{where.__name__}.{name}")
    return where


def names(engine: str, place: str) -> set[str]:
    """The public names at a place such as "torch.nn", in tinytorch or in another engine by its module's name.

    Submodules, and what a module merely imported from the standard library or NumPy, are left out.
    """
    where = _at(engine, place)
    found = set()
    for name in where.__all__ if engine == "tinytorch" and hasattr(where, "__all__") else dir(where):
        value = getattr(where, name, None) if place != "torch.Tensor" else name
        home = getattr(value, "__module__", None) or ""
        if name.startswith("_") or isinstance(value, ModuleType) or home.partition(".")[0] in _ELSEWHERE:
            continue
        found.add(name)
    return found - OWN.get(place, set())


_ELSEWHERE = {"typing", "collections", "contextlib", "functools", "enum", "importlib", "threading", "numpy", "types", "dataclasses",
              "typing_extensions", "warnings", "abc", "__future__"}  # fmt: skip


def table(reference: str | None = None) -> str:
    """The names at each place as Markdown; with a reference engine, shared and absent ones side by side."""
    lines = [
        "| place | in tinytorch |" + (" of PyTorch's |" if reference else ""),
        "|---|---|" + ("---|" if reference else ""),
    ]
    details = []
    for place in PLACES:
        mine = names("tinytorch", place)
        theirs = names(reference, place) if reference else mine
        shared, absent = sorted(mine & theirs), sorted(theirs - mine)
        lines.append(f"| `{place}` | {len(shared)} |" + (f" {len(theirs)} |" if reference else ""))
        details.append(f"## `{place}`\n\nThere: {_listed(shared)}\n")
        if absent:
            details.append(f"Not there: {_listed(absent)}\n")
    return "\n".join([*lines, "", *details])


def _listed(found: list[str]) -> str:
    return ", ".join(f"`{n}`" for n in found) or "nothing"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--against", metavar="ENGINE", help="list what this engine has beside it")
    print(table(parser.parse_args().against))


if __name__ == "__main__":
    main()
