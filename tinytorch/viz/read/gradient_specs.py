"""The shape and dtype that gradients must have on their way through the graph.

PyTorch's engine checks each gradient that a node computed against the output of the node that it
goes to. `tensor.data = other` can give a tensor another shape than its node expects.
Source: `validate_outputs` in `torch/csrc/autograd/engine.cpp`.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ...graph import AccumulateGrad, Node, gradient_spec_of, name_of_node
from ..wording import short_node_name
from .probe import getattr_or_none
from .records import GradientSpec

_POINTWISE = re.compile(
    r"^(Add|Sub|Rsub|Mul|Div|Neg|Exp|Log|Sin|Cos|Tanh|Sigmoid|Relu|Sqrt|Abs|Pow|Clone|ToCopy)"
    r"Backward\d*$"
)
"""Nodes that compute a gradient of the shape of their result."""


def gradient_specs_of(node: Any) -> tuple[GradientSpec | None, ...]:
    """Return what the gradient of each output of a node must be; None where that is not known."""
    if isinstance(node, AccumulateGrad):
        leaf = node.variable
        if has_other_spec(leaf):
            return ()
        return (_make_spec(leaf.shape, leaf.dtype),)
    if isinstance(node, Node):
        specs = getattr_or_none(node, "_gradient_specs") or ()
        return tuple([_make_spec(shape, _name_of_dtype(dtype)) for shape, dtype, _ in specs])
    metadata = getattr_or_none(node, "_input_metadata") or ()
    return tuple([_read_spec(input_metadata) for input_metadata in metadata])


def has_other_spec(leaf: Any) -> bool:
    """Return True if gradients of another shape or dtype than a leaf's are expected of some nodes.

    `.data =` leaves that behind, see `EarlierSpec`. False for tensors of torch, which show no such
    thing, and for None.
    """
    meta = getattr_or_none(leaf, "_meta")
    specs = getattr_or_none(meta, "earlier_gradient_specs") or ()
    return any(earlier.spec != gradient_spec_of(leaf) for earlier in specs)


@cache
def _name_of_dtype(dtype: Any) -> str:
    """Return the name of a NumPy dtype, which NumPy puts together anew each time."""
    return str(dtype.name)


def _read_spec(input_metadata: Any) -> GradientSpec | None:
    try:
        return _make_spec(input_metadata.shape, input_metadata.dtype)
    except Exception:  # noqa: BLE001 - nested tensors have no shape
        return None


def _make_spec(shape: Any, dtype: Any) -> GradientSpec | None:
    try:
        return GradientSpec(tuple(map(int, shape)), _shorten_dtype(dtype))
    except Exception:  # noqa: BLE001 - nested tensors and symbolic sizes each raise another error
        return None


@cache
def _shorten_dtype(dtype: Any) -> str:
    return str(dtype).rpartition(".")[2]


def input_shapes_of(
    node: Any, specs: tuple[GradientSpec | None, ...]
) -> tuple[tuple[int, ...] | None, ...]:
    """Return the shapes of the gradients that a node sends along its edges, as far as known.

    specs: its `gradient_specs_of`.
    """
    # A Function in Python may return gradients of any shape.
    if hasattr(type(node), "_forward_cls"):
        return ()
    sizes = getattr_or_none(node, "_saved_self_sym_sizes")
    if isinstance(sizes, tuple | list):
        # `self` is the first argument of an operation, and its gradient has its shape.
        spec = _make_spec(sizes, "")
        if spec is None:
            return ()
        return (spec.shape,)
    if (
        len(specs) != 1
        or specs[0] is None
        or not _POINTWISE.search(short_node_name(name_of_node(node)))
    ):
        return ()
    return (specs[0].shape,) * len(node.next_functions)
