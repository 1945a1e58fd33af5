"""What a view shows, as a copy with memory of its own: `view_copy`, `t_copy`, `slice_copy`, ...

PyTorch makes these of its views by a rule, and so are they made here: a copy has the arguments, the
errors and the gradient of its view, and lies row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import make_undifferentiable_node_class
from .copies import contiguous_format, copy_array
from .define import OPS, Op, op
from .kernels import Kernel
from .views import view_array

# `diagonal_copy` is declared beside `diag`, which gives it.
_COPIED_VIEWS = (
    *("alias", "as_strided", "expand", "permute", "select", "slice", "split", "split_with_sizes"),
    *("squeeze", "t", "transpose", "unbind", "unfold", "unsqueeze", "view"),
)


def _shape_copy(a: np.ndarray, size: tuple) -> np.ndarray:
    """Return a copy in another shape, which no strides refuse: it is copied before it is shaped."""
    return view_array(a if a.flags.c_contiguous else copy_array(a, contiguous_format), size)


def _copy_shown(look: Callable) -> Kernel:
    """Make a kernel that copies what a view's kernel gives: one array, or each of several."""
    look = _shape_copy if look is view_array else look

    def copy_shown(*values: Any) -> Any:
        shown = look(*values)
        if isinstance(shown, np.ndarray):
            return copy_array(shown, contiguous_format)
        return tuple([copy_array(a, contiguous_format) for a in shown])

    return Kernel(copy_shown, is_copy=True)


def _declare_copy(look: Op) -> None:
    """Declare the operation that copies what a view shows."""
    schema = look.schema.text.replace(f"{look.name}(", f"{look.name}_copy(", 1)
    for shared in "Tensor(a) self", "Tensor(a -> *) self", "Tensor(a)[]":
        schema = schema.replace(shared, "Tensor" + shared[shared.index(")") + 1 :])
    op(
        schema,
        _copy_shown(look.kernel.function),
        method=False,
        # PyTorch writes several results into a list of tensors, which nobody does.
        out=False if look.has_several_results else "exact",
        out_node_class=make_undifferentiable_node_class(f"aten::{look.name}_copy"),
        backward=f"{look.node_parts.backward}_copy",
        readers=look.node_parts.readers,
        **look.node_parts.formulas,
    )


for _look in [o for o in OPS if o.kind == "view" and o.name in _COPIED_VIEWS]:
    _declare_copy(_look)
op(
    "detach_copy(Tensor self)",
    Kernel(lambda a: copy_array(a, contiguous_format), is_copy=True),
    method=False,
    out="exact",
    node_class=make_undifferentiable_node_class("aten::detach_copy"),
    out_node_class=make_undifferentiable_node_class("aten::detach_copy"),
)
