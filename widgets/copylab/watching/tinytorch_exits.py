"""The exits by which values leave the graph in tinytorch: methods that read, operations without a node."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Sequence
from functools import cache, wraps
from typing import TYPE_CHECKING, Any

import tinytorch
from tinytorch import Tensor
from tinytorch.viz import ExitKind

from .exits import LeafReference, report_parameters
from .scope import Replacement, find_watches_of_thread

if TYPE_CHECKING:
    from .observer import Watch

_METHODS: dict[str, ExitKind] = {
    "detach": "detach",
    "item": "number",
    "tolist": "number",
    "__float__": "number",
    "__int__": "number",
}
_NAMES_OF_CONVERSIONS = ("to", "_to_copy", "type", "long", "int", "bool")


@cache
def watch_exits() -> tuple[Replacement, ...]:
    """Report what methods of tensors read, and what `tinytorch.tensor` is made of."""
    methods = [_report_calls(Tensor, name, kind) for name, kind in _METHODS.items()]
    parameters = report_parameters(tinytorch.nn.Parameter, _report_result, _report_made)
    return (*methods, _report_calls(tinytorch, "tensor", "new leaf"), parameters)


def _report_result(data: Any) -> None:
    for watch in find_watches_of_thread():
        watch.record_exit([data], "parameter", "Parameter", make_leaf_reference)


def _report_made(parameter: Any) -> None:
    for watch in find_watches_of_thread():
        watch.record_parameter(parameter, make_leaf_reference(parameter))


def report_data_read(tensor: Any, file: str) -> None:
    """Note that a line of a file reads `.data`. The engine and a look read it, too."""
    if tensor.requires_grad:
        for watch in find_watches_of_thread():
            if watch.is_of_program(file):
                watch.record_exit([tensor], "detach", "data", make_leaf_reference)


def _report_calls(owner: Any, name: str, kind: ExitKind) -> Replacement:
    def replace(function: Any) -> Any:
        @wraps(function)
        def call_reported(*args: Any, **kwargs: Any) -> Any:
            # The caller's frame, as the wrapper is called in the place of the method.
            file = sys._getframe(1).f_code.co_filename
            for watch in find_watches_of_thread():
                # The engine and a look call them, too.
                if watch.is_of_program(file):
                    sources = [args[0]] if kind != "new leaf" and args[0].requires_grad else []
                    if sources or kind == "new leaf":
                        watch.record_exit(sources, kind, name, make_leaf_reference)
            return function(*args, **kwargs)

        return call_reported

    return Replacement(owner, name, replace)


def report_exit(
    watch: Watch, name: str, tensors: Sequence[Any], count: int, is_recording: bool
) -> None:
    """Tell a watch of an operation that makes no node of tensors which require grad.

    count: how many tensors it reads.
    """
    if name.endswith("_like") or name.startswith("new_"):
        return  # reads no values
    operation = "conversion" if name in _NAMES_OF_CONVERSIONS else name
    kind: ExitKind = "no derivative" if is_recording else "grad mode"
    # As in on_torch.py: a layer has a parameter meet another tensor; a difference is a comparison.
    is_use = name == "t" or (count > 1 and name != "sub")
    watch.record_exit(tensors, kind, operation, make_leaf_reference, is_use=is_use)


def make_leaf_reference(leaf: Any) -> LeafReference:
    """Return what knows a leaf again without keeping it alive."""
    reference = weakref.ref(leaf)
    # By identity: a tensor compared by `==` compares its elements.
    return lambda tensor: reference() is tensor
