"""A `.grad` of other strides than its leaf: backward adds to it, and warns once in a process.

Where a program raises warnings as errors (python -W error, most tests), backward then ends with
one, after it has added. Source: PyTorch's `accumulate_grad.h`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from ..read import NodeRecord, Snapshot, TensorRecord
from ..wording import gettext

_WARNING = "grad and param do not obey the gradient layout contract"


def find_doubts_on_layouts(snap: Snapshot, nodes: Sequence[NodeRecord]) -> Iterator[str]:
    """Yield the gradients for whose strides backward may raise; whether it has warned shows nowhere."""
    if not _may_raise_warning():
        return
    for node in nodes:
        leaf = snap.leaf_of(node)
        grad = None if leaf is None or leaf.grad is None else snap.tensor(leaf.grad)
        if leaf is not None and grad is not None and not _obeys_layout(grad, leaf):
            yield gettext(
                "{grad} has other strides than its leaf; PyTorch warns about that once, and "
                "warnings are raised as errors",
                grad=snap.grad_label(leaf.id),
            )


def _may_raise_warning() -> bool:
    """Return True if the filters raise the warning, or may, as one for some module or line does."""
    # The first filter that fits decides, as in Python.
    for action, message, category, module, line in warnings.filters:
        # A text in the default filters is compared as it is.
        is_meant = (
            message is None or isinstance(message, str) or message.match(_WARNING) is not None
        )
        if is_meant and issubclass(UserWarning, category):
            if action == "error":
                return True
            # It is for every place. One for a module may not be that of backward, and the next
            # filters count.
            if module is None and line == 0:
                return False
    return False


def _obeys_layout(grad: TensorRecord, leaf: TensorRecord) -> bool:
    """Return True for the strides of a dense leaf; others are not told apart, and doubted."""
    pairs = zip(grad.axes(), leaf.axes(), strict=False)
    is_same = all(axis.size == 1 or axis.stride == leaf_axis.stride for axis, leaf_axis in pairs)
    return is_same and _is_dense(leaf)


def _is_dense(tensor: TensorRecord) -> bool:
    """Return True if elements lie without gap or overlap, in any order of the dimensions."""
    # From the smallest stride up, each has to be the product of the sizes before it.
    expected = 1
    for axis in sorted(tensor.axes(), key=lambda axis: axis.stride):
        if axis.size == 1:
            continue
        if axis.stride != expected:
            return False
        expected *= axis.size
    return True
