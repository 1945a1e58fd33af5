"""Rows of the op sheet that declarations give: each way to call what takes tensors, numbers and dimensions alone.

As a function and, where there is one, as `name_`, for each overload and each other name; the values of a parameter are
told by its kind. What takes an index, a mask, a matrix or sizes has rows of its own in the other files.
"""

from __future__ import annotations

import itertools

from tinytorch import Tensor
from tinytorch.ops.define import FUNCTIONS, find_function
from tinytorch.ops.kernels import pointwise
from tinytorch.ops.operation import Op

# By the names of parameters; the letters are the tensors of sheet.py.
OPERANDS = {
    "self": "x",
    "other": "y",
    "exponent": "y",
    "min": "y",
    "max": "z",
    "end": "y",
    "tensor1": "y",
    "tensor2": "p",
}
FIRST_OPERANDS = dict.fromkeys(("log", "sqrt", "reciprocal", "pow"), "p")
INTEGER_OPERANDS = dict.fromkeys(
    ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"), "ij"
)
NUMBERS = ("2", "2.5")
VALUES = {"Scalar": NUMBERS, "int": ("0", "-1"), "int[]": ("0", "(0, -1)"), "float": ("0.5",)}
# Without `out=`, in torch, too; it records the last one, and raises in backward.
WITHOUT_OUT = {
    "isnan",
    "isinf",
    "isfinite",
    "relu",
    "floor_divide",
    "isclose",
}
# Of equal elements any may be chosen, and of an expanded tensor PyTorch's `median` reads other cells.
AMONG_EQUALS = {"kthvalue", "median"}
ROWS_ELSEWHERE = AMONG_EQUALS | {"clone", "detach", "empty_like", "fill", "set", "zero"}


def list_arguments(op: Op, position: int) -> tuple[str, ...]:
    """Return what stands for a parameter; nothing if it is of a kind that other files have rows for."""
    param, name = op.schema.params[position], op.name.removesuffix("_")
    if param.is_tensor and param.name in OPERANDS:
        usual = FIRST_OPERANDS.get(name, "x") if position == 0 else OPERANDS[param.name]
        if name in INTEGER_OPERANDS:
            usual = INTEGER_OPERANDS[name][1 if position else 0]
        return (usual, *NUMBERS) if op.numbers and position else (usual,)
    if param.schema_type == "int" and param.name != "dim":
        return ()
    return VALUES.get(param.schema_type, ())


def make_rows(name: str, op: Op) -> list[str]:
    """Return the rows for one overload under one name."""
    params = op.schema.params
    required = [i for i, param in enumerate(params) if not param.default_text]
    is_random = any(param.name == "generator" for param in params) or "rand" in name
    has_tensor = any(params[i].is_tensor for i in required)
    if is_random or not has_tensor or op.kernel.kind == "view":
        return []
    rows = []
    for first, *others in itertools.product(*[list_arguments(op, i) for i in required]):
        if name.endswith("_"):
            # t is a copy of x that is no leaf: a leaf may not be written to.
            target = "t" if first == "x" else f"{first}.clone()"
            rows.append(f"{target}.{name}({', '.join(others)})")
        else:
            rows.append(f"torch.{name}({', '.join([first, *others])})")
    if name.endswith("_") or not rows:
        return rows
    first_row = rows[0]
    if any(param.name == "keepdim" for param in params):
        rows.append(f"{rows[-1][:-1]}, keepdim=True)")
    if type(op.kernel) is pointwise and name not in WITHOUT_OUT:
        rows.append(f"{first_row[:-1]}, out=torch.empty(0))")
    return rows


def list_rows() -> list[str]:
    """Return all rows that can be made of what is declared, each once."""
    functions = [(name, find_function(name)) for name in FUNCTIONS]
    names_in_place = [name for name in vars(Tensor) if name.endswith("_")]
    rows: dict[str, None] = {}
    for name, function in [*functions, *[(n, getattr(Tensor, n, None)) for n in names_in_place]]:
        if name.removesuffix("_") in ROWS_ELSEWHERE or "_backward" in name or name[0] == "_":
            continue
        for op in getattr(function, "overloads", ()):
            rows |= dict.fromkeys(make_rows(name, op))
    return list(rows)


ROWS = list_rows()
