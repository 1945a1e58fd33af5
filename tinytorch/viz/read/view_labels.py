"""Words for a tensor without a name, by one that it shares a version counter with.

`w transposed`, `w[1]`, `w[:, 0:2]`: found by comparing sizes and strides, as nothing records the
operation that made a view.
"""

from __future__ import annotations

from ..wording import gettext, write_expression
from .records import TensorRecord


def describe_view(view: TensorRecord, whole: TensorRecord, name: str) -> str:
    """Say which part of `whole`, called `name`, the tensor `view` is: "w transposed", "w[1]"."""
    known_part = ""
    # After view(dtype) strides count other units, and equal axes mean a reshape of nothing.
    if view.itemsize == whole.itemsize and view.axes() != whole.axes():
        known_part = (
            _describe_permutation(view, whole, name)
            or _describe_expansion(view, whole, name)
            or _describe_slice(view, whole, name)
        )
    return known_part or gettext("a view of {name}", name=name)


def _describe_permutation(view: TensorRecord, whole: TensorRecord, name: str) -> str:
    axes, axes_of_whole = view.axes(), whole.axes()
    if view.start_byte != whole.start_byte or sorted(axes) != sorted(axes_of_whole):
        return ""
    # Two dimensions that changed places are what everybody calls transposed.
    moved = sum(a != b for a, b in zip(axes, axes_of_whole, strict=True))
    if moved == 2:
        return gettext("{name} transposed", name=name)
    return gettext("{name} with its dimensions in another order", name=name)


def _describe_expansion(view: TensorRecord, whole: TensorRecord, name: str) -> str:
    moving = [axis for axis in view.axes() if axis.stride]
    longer_than_one = [axis for axis in whole.axes() if axis.size > 1]
    is_expanded = view.start_byte == whole.start_byte and view.elements_per_cell() > 1
    if not is_expanded or moving != longer_than_one:
        return ""
    return gettext("{name} expanded", name=name)


def _describe_slice(view: TensorRecord, whole: TensorRecord, name: str) -> str:
    """`w[1]` or `w[:, 0:2]`, if one dimension of the whole was indexed or sliced."""
    # `argument 0[1]` would say nothing.
    if not write_expression(name):
        return ""
    axes, axes_of_whole = view.axes(), whole.axes()
    distance = view.start_byte - whole.start_byte
    for d, (size, stride) in enumerate(axes_of_whole):
        # A stride of 0 cannot be divided by; an expanded dimension is passed over below.
        first, remainder = divmod(distance, stride * whole.itemsize or 1)
        if remainder or not stride or not 0 <= first < size:
            continue
        before, after = axes_of_whole[:d], axes_of_whole[d + 1 :]
        if axes == before + after:
            return f"{name}[{':, ' * d}{first}]"
        if len(axes) != len(axes_of_whole):
            continue
        last = first + axes[d].size
        if last <= size and axes == [*before, (last - first, stride), *after]:
            return f"{name}[{':, ' * d}{first}:{last}]"
    return ""
