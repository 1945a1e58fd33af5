"""What a view shows, as a copy with memory of its own: `view_copy`, `t_copy`, `slice_copy`, ...

PyTorch makes these of its views by a rule, and so are they made here: a copy has the arguments, the
errors and the gradient of its view, and lies row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .copies import contiguous_format, copy_array
from .define import OPS, op
from .kernels import Kernel
from .operation import Op
from .views import view_array

# `diagonal_copy` is declared beside `diag`, which gives it.
_COPIED_VIEWS = (
    *("alias", "as_strided", "expand", "permute", "select", "slice", "split", "split_with_sizes"),
    *("squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view"),
)


def _shape_copy(a: np.ndarray, size: tuple) -> np.ndarray:
    """Return a copy in another shape, which no strides refuse: it is copied before it is shaped."""
    return view_array(a if a.flags.c_contiguous else copy_array(a, contiguous_format), size)


def _make_copy_kernel(view_kernel: Callable) -> Kernel:
    """Make a kernel that copies what a view's kernel gives: one array, or each of several."""
    view_kernel = _shape_copy if view_kernel is view_array else view_kernel

    def copy_view(*values: Any) -> Any:
        view = view_kernel(*values)
        if isinstance(view, np.ndarray):
            return copy_array(view, contiguous_format)
        return tuple([copy_array(a, contiguous_format) for a in view])

    return Kernel(copy_view, is_copy=True)


def _declare_copy(view_op: Op) -> None:
    """Declare the operation that copies what a view shows."""
    schema = view_op.declaration.text.replace(f"{view_op.name}(", f"{view_op.name}_copy(", 1)
    for shared in "Tensor(a) self", "Tensor(a -> *) self", "Tensor(a)[]":
        schema = schema.replace(shared, "Tensor" + shared[shared.index(")") + 1 :])
    op(
        schema,
        _make_copy_kernel(view_op.declaration.kernel.function),
        method=False,
        # PyTorch writes several results into a list of tensors, which nobody does.
        out=False if schema.endswith("[]") else "exact",
        undifferentiable_out=True,
        backward=f"{view_op.declaration.backward}_copy",
        readers=view_op.declaration.readers,
        **view_op.declaration.formulas,
    )


for _view_op in [o for o in OPS if o.name in _COPIED_VIEWS and o.declaration.kernel.kind == "view"]:
    _declare_copy(_view_op)
op(
    "detach_copy(Tensor self)",
    Kernel(lambda a: copy_array(a, contiguous_format), is_copy=True),
    method=False,
    out="exact",
    undifferentiable=True,
    undifferentiable_out=True,
)
