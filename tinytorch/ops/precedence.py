"""What torch says first of a call that is wrong in several ways: what histories forbid comes before shapes and dtypes."""

from __future__ import annotations

from typing import Any

from ..dtypes import dtype
from ..graph.history import check_inplace, grad_fn_of, needs_grad
from ..graph.modes import MODES
from ..tensor import Tensor
from .outputs import NO_DERIVATIVE

# In-place operations that torch does not check as such, or not before it looks at their arguments.
WITHOUT_HISTORY = ("resize_", "resize_as_", "detach_", "requires_grad_", "logical_and_", "logical_or_", "logical_xor_", "logical_not_",
              "fill_diagonal_", "set_", "apply_", "map_", "map2_")  # fmt: skip
# They look at no history, or leave that to the operations that they are made of.
_UNRECORDED = """
    allclose asarray broadcast_tensors cartesian_prod chunk combinations diag diff dsplit einsum equal flatten fliplr
    flipud histc hsplit isclose item meshgrid moveaxis movedim narrow nanquantile new_zeros numpy outer quantile
    take_along_dim tensor_split tensordot tolist trapezoid type unflatten vander vsplit
""".split()  # noqa: SIM905 - a list of strings would take a line for each

# Whose results never have gradients, so that `out=` asks for none.
_WITHOUT_GRADIENT = """
    all any argmax argmin bucketize count_nonzero eq ge gt isin isneginf isposinf le logical_and logical_not logical_or
    logical_xor lt multinomial ne nonzero searchsorted signbit
""".split()  # noqa: SIM905 - a list of strings would take a line for each


def check_out(function: str, out: Any, *inputs: Any) -> None:
    """Raise torch's RuntimeError if the operation would be recorded, which `out=` cannot be."""
    tensors = [t for t in (out, *inputs) if isinstance(t, Tensor)]
    if MODES.here.grad and function not in _WITHOUT_GRADIENT and any(map(needs_grad, tensors)):
        raise RuntimeError(NO_DERIVATIVE.format(function))


def say_first(name: str, of_view: bool, args: tuple, kwargs: dict) -> None:
    """Raise what torch would raise before the error that a failed call of `name` gave, if there is such a thing."""
    if (
        not MODES.here.grad
        or name in _UNRECORDED
        or name in _WITHOUT_GRADIENT
        or (name == "view" and isinstance(args[-1], dtype))
    ):
        return
    parts = args[0] if args and isinstance(args[0], (list, tuple)) else ()
    tensors = [t for t in (*parts, *args, *kwargs.values()) if isinstance(t, Tensor)]
    recorded = any(needs_grad(t) for t in tensors)
    if name == "linear":
        tensors[:2] = tensors[1::-1]  # the matrix is turned first
    if name.endswith("_as"):  # of the other one it is the shape alone that counts
        tensors = tensors[:1]
    if name.endswith("_"):
        if recorded and name not in WITHOUT_HISTORY and isinstance(args[0], Tensor):
            check_inplace(args[0], True)
            _read(tensors)
        return
    if name.startswith("reshape") and not args[0]._data.flags.c_contiguous:
        return
    if name == "matmul" and any(not t._data.ndim for t in tensors[:2]):  # which it refuses before all else
        return
    out = kwargs.get("out")
    if recorded and isinstance(out, Tensor):
        check_out(name, out, *tensors)
    if recorded or of_view:
        _read(tensors)


def _read(tensors: list[Tensor]) -> None:
    for t in tensors:
        if t._view is not None:
            grad_fn_of(t)  # raises for a view whose base was written to although that is forbidden
