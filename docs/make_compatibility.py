"""Make docs/compatibility.md from the code.

python docs/make_compatibility.py            writes it; needs PyTorch, whose names are counted
python docs/make_compatibility.py --check    writes nothing; says what is not as it would be made
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
DOCUMENT = ROOT / "docs" / "compatibility.md"
HEAD = """# What tinytorch has of PyTorch 2.13

<!-- Written by `python docs/make_compatibility.py`; do not edit. -->

A name of PyTorch's that is not listed raises PyTorch's own `AttributeError`, with a note that says what to do.

What the course is about is there to the letter: storages, views, version counters, writes in place, the graph,
saved tensors and hooks, copies and conversions, printing, and PyTorch's errors about all of these. It also has
what programs need around that: creation, indexing, arithmetic, reductions, matrix products, and enough of `nn` and
`optim` to train. Names are counted by the code itself, below.

Absent are complex numbers, bfloat16, uint16 to uint64, `channels_last`, DLPack, sparse and quantized tensors,
factorings and solvers, special functions, convolutions, normalisation, embeddings, most losses, schedulers, data
loaders, functional jacobians, forward mode and `torch.compile`: if you need them, use PyTorch: every picture and
widget works on real PyTorch tensors. What is missing raises PyTorch's `AttributeError` with a note that says so, and
`hasattr` works. `device="cuda"` is simulated on the CPU. `sys.modules["torch"] = tinytorch` at the start of a program
makes all that it imports from `torch` come from here. Both packages have types, tinytorch those of PyTorch's stubs:
`mypy --strict` and pyright know that `x * 2` is a `Tensor`.

"""
NEAR_COPYING = """A few of the methods are near copying, and absent all the same. `unsafe_split`, `unsafe_chunk`,
`unsafe_split_with_sizes` and `slice_inverse` are PyTorch's own tools, whose results share memory behind autograd's
back. `map_`, `map2_` and `apply_` call Python for each element; `new`, `resize`, `resize_as` and `storage_type` are old
forms that PyTorch advises against. `addbmm` and `baddbmm` are further products: `addmm`, `addmv` and `addr` show the
rule. `pin_memory` and what asks for it needs a GPU.

Where a reduction, a product, `softmax`, `stack` or its kin, `tril` or `triu` writes into its own input (`torch.sum(x,
0, out=x)`, `torch.mv(a, v, out=v)`) PyTorch reads cells that it has already written to, or a shape that it has already
changed; here the result is that of the input as it was. So it is with `x[:, 1:] = x[:, :-1]`: PyTorch finds no overlap
between tensors with gaps. Where elements of `out` share a cell, another one of the values that are written there may
stay in it. An `out=` that is refused may have another shape or other values afterwards. `bernoulli` and `torch.pow(1,
x)` take an `out=` of any dtype in PyTorch, and here of a floating one; `kthvalue` and `median` with an input as `out=`
give a result that PyTorch refuses, and `linear` takes no `out=`. Of equal elements `median`, `kthvalue`, `topk` and
`sort` choose the first in order, PyTorch any (`sort` of long tensors, if it is not asked to be stable). A write that
meets an index out of range has written what comes before it, in PyTorch as here (`x[i] = y`, `index_add_`,
`index_fill_`, `scatter_` and their kin), and is not counted; one into `out=` has written nothing here.

PyTorch makes tensors that no memory holds: `x.resize_(0, -1)` has a negative size, and `x.as_strided_((2,), (2**62,))`
reaches beyond its storage, as the bytes that it needs are counted modulo 2**64. Both are refused here; a refused
`resize_` leaves the tensor as it was, where PyTorch's has the new shape.

Of a tensor that `as_subclass` made, PyTorch makes results of the subclass; here they are plain tensors, with the same
memory, versions and nodes. `__torch_function__` is never called."""
PLACES = ("torch", "torch.Tensor", "torch.autograd", "torch.nn", "torch.nn.functional", "torch.nn.init",
          "torch.optim", "torch.cuda", "torch.utils")  # fmt: skip
_ELSEWHERE = {"typing", "collections", "contextlib", "functools", "enum", "importlib", "threading", "numpy", "types",
              "dataclasses", "typing_extensions", "warnings", "abc", "__future__"}  # fmt: skip


def at(engine: str, place: str) -> Any:
    """What stands at a place such as "torch.nn" in the engine of that name."""
    where: Any = importlib.import_module(engine)
    for name in place.split(".")[1:]:
        found = getattr(where, name, None)
        where = found if found is not None else importlib.import_module(f"{where.__name__}.{name}")
    return where


def names(engine: str, place: str) -> set[str]:
    """The public names at a place; no submodules, and nothing from the standard library or NumPy."""
    where = at(engine, place)
    found = set()
    for name in (
        where.__all__ if engine == "tinytorch" and hasattr(where, "__all__") else dir(where)
    ):
        value = getattr(where, name, None) if place != "torch.Tensor" else name
        home = getattr(value, "__module__", None) or ""
        if not (
            name.startswith("_")
            or isinstance(value, ModuleType)
            or home.partition(".")[0] in _ELSEWHERE
        ):
            found.add(name)
    return found - {"viz"}


def table() -> str:
    """The names at each place as Markdown: how many, and which."""
    lines, details = ["| place | in tinytorch | of PyTorch's |", "|---|---|---|"], []
    for place in PLACES:
        theirs = names("torch", place)
        both = theirs & names("tinytorch", place)
        lines.append(f"| `{place}` | {len(both)} | {len(theirs)} |")
        details.append(f"## `{place}`\n\n{_listed(both)}\n")
    return "\n".join([*lines, "", *details, absent()])


def absent() -> str:
    """What tensors of PyTorch have and ours lack: names, and forms of names that are there."""
    errors = importlib.import_module("tinytorch.base.errors")
    forms = importlib.import_module("tinytorch.ops.absent").ABSENT_FORMS
    shown = "\n".join(
        f"- `{form}`{', with `out=`' * (place < 0)}"
        for place, form in sorted(forms, key=lambda f: f[1])
    )
    return (
        "## What is absent from tensors\n\nThese methods, and those in place with an underscore: "
        f"{_listed(set(errors.ABSENT_FROM_TENSOR))}.\n\nAnd these forms of names that are there, by "
        f"PyTorch's schemas; a call of one says so, with the same note:\n\n{shown}\n\n{NEAR_COPYING}\n"
    )


def _listed(found: set[str]) -> str:
    return ", ".join(f"`{n}`" for n in sorted(found)) or "nothing"


def main() -> None:
    """Write or check."""
    text = HEAD + table()
    if sys.argv[1:] == ["--check"]:
        if DOCUMENT.read_text(encoding="utf-8") != text:
            sys.exit(f"not current: {DOCUMENT.name}")
        return
    DOCUMENT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
