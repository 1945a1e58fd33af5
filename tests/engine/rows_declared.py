"""Rows of the op sheet that declarations give: each way to call what takes tensors, numbers and dimensions alone.

As a function and, where there is one, as `name_`, for each overload and each other name; the values of a parameter are
told by its kind. What takes an index, a mask, a matrix or sizes has rows of its own in the other files.
"""

from __future__ import annotations

import itertools

from tinytorch import Tensor
from tinytorch.ops.define import FUNCTIONS, Op
from tinytorch.ops.kernels import pointwise

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
FIRST = dict.fromkeys(("log", "sqrt", "reciprocal", "pow"), "p")
WHOLE = dict.fromkeys(
    ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift"), "ij"
)
NUMBERS = ("2", "2.5")
VALUES = {"Scalar": NUMBERS, "int": ("0", "-1"), "int[]": ("0", "(0, -1)"), "float": ("0.5",)}
# Without `out=`, in torch, too; it records the last one, and raises in backward.
NO_OUT = {
    "isnan",
    "isinf",
    "isfinite",
    "relu",
    "floor_divide",
    "isclose",
}
# Of equal elements any may be chosen, and of an expanded tensor PyTorch's `median` reads other cells.
AMONG_EQUALS = {"kthvalue", "median"}
OTHERWISE = AMONG_EQUALS | {"clone", "detach", "empty_like", "fill", "set", "zero"}


def values(o: Op, place: int) -> tuple[str, ...]:
    """Arguments for a parameter; none if it is of a kind that other files have rows for."""
    p, name = o.schema.params[place], o.name.removesuffix("_")
    if p.is_tensor and p.name in OPERANDS:
        usual = FIRST.get(name, "x") if place == 0 else OPERANDS[p.name]
        return (
            WHOLE.get(name, usual * 2)[min(place, 1)],
            *(NUMBERS if o.numbers and place else ()),
        )
    return VALUES.get(p.schema_type, ()) if p.schema_type != "int" or p.name == "dim" else ()


def calls(called: str, o: Op) -> list[str]:
    """The rows for one name and overload."""
    params = o.schema.params
    needed = [i for i, p in enumerate(params) if not p.default_text]
    drawn = any(p.name == "generator" for p in params) or "rand" in called
    if drawn or not any(params[i].is_tensor for i in needed) or o.kernel.kind == "view":
        return []
    puts = itertools.product(*[values(o, i) for i in needed])
    if called.endswith("_"):
        return [
            f"{'t' if x == 'x' else f'{x}.clone()'}.{called}({', '.join(rest)})"
            for x, *rest in puts
        ]
    made = [f"torch.{called}({', '.join(given)})" for given in puts]
    if made and any(p.name == "keepdim" for p in params):
        made.append(f"{made[-1][:-1]}, keepdim=True)")
    if made and type(o.kernel) is pointwise and called not in NO_OUT:
        made.append(f"{made[0][:-1]}, out=torch.empty(0))")
    return made


def rows() -> list[str]:
    """All that can be made of what is declared."""
    offered = [*FUNCTIONS.items(), *[(n, m) for n, m in vars(Tensor).items() if n.endswith("_")]]
    plain = [
        (n, f)
        for n, f in offered
        if n.removesuffix("_") not in OTHERWISE and "_backward" not in n and n[0] != "_"
    ]
    return list(
        dict.fromkeys(
            row for n, f in plain for o in getattr(f, "overloads", ()) for row in calls(n, o)
        )
    )


ROWS = rows()
