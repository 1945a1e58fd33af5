"""Writes of hooks and of Functions in Python into the gradient that they are given.

The backward of `a + b` gives one tensor to both branches, so what a hook on `b` writes in place is
also the gradient of `a`. PyTorch counts nothing there and raises no error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import TYPE_CHECKING, Any

from .aliases import copy_locals
from .places import find_waiting_frame

if TYPE_CHECKING:
    from .on_torch import TorchHooks

_ENGINE = "_engine_run_backward"
_REFERENCES_OF_HOOK = 2
"""References to the gradient that a hook is given and nobody else: the engine's and Python's."""
_REFERENCES_OF_FUNCTION = 1
_REFERENCES_OF_CALL = 2
"""Further ones while an operation writes to the tensor itself."""


def is_shared_gradient(hooks: TorchHooks, written: Any) -> bool:
    """Return True if code of the program writes into a gradient that something else may be given, too.

    Counts the references that PyTorch's own part has to it. Those of views count as well, so it may
    be that nobody else reads it; if False, nobody does.
    """
    if hooks.torch.is_grad_enabled():
        return False  # with `create_graph`, a version counter is looked at
    frame = _find_called_by_engine(sys._getframe(1), hooks)
    if frame is None:
        return False
    is_function = frame.f_code.co_name in ("apply", "apply_boxed")
    if not hooks.watch.is_of_program(frame.f_code.co_filename) and not is_function:
        return False  # hooks of modules: PyTorch's own code around them holds the gradient twice
    code = frame.f_code
    variables = copy_locals(frame)
    number = code.co_argcount + bool(code.co_flags & 4)  # 4: with *args
    arguments = [variables.get(name) for name in code.co_varnames[: code.co_argcount]]
    arguments += [variables.get(name) for name in code.co_varnames[code.co_argcount : number]]
    tensors = list(_find_tensors(arguments, hooks.torch.Tensor))
    least_references = _REFERENCES_OF_HOOK
    # Up to 2.12 the engine keeps a reference of its own while a Function runs, as with hooks.
    if is_function and hasattr(hooks.torch.autograd.function.BackwardCFunction, "_get_user_fn"):
        least_references = _REFERENCES_OF_FUNCTION
    storage = written.untyped_storage().data_ptr()
    for tensor in tensors:
        if tensor.untyped_storage().data_ptr() != storage:
            continue
        expected_references = least_references + sum(other is tensor for other in tensors) - 1
        if tensor is written:
            expected_references += _REFERENCES_OF_CALL
        # A view refers to its base once more.
        expected_references += written._is_view() and written._base is tensor
        if tensor._use_count() > expected_references:
            return True
    return False


def _find_called_by_engine(frame: FrameType | None, hooks: TorchHooks) -> FrameType | None:
    """Return the frame that a running backward has called; None if the engine itself writes."""
    called, is_of_program = None, False
    while frame is not None and frame.f_code.co_name != _ENGINE:
        is_of_program = is_of_program or hooks.watch.is_of_program(frame.f_code.co_filename)
        called, frame = frame, frame.f_back
    # In a thread of the engine's own the frame that it has called is the outermost.
    by_engine = frame is not None or find_waiting_frame() is not None
    return called if is_of_program and by_engine else None


def _find_tensors(values: Any, tensor_class: type) -> Iterator[Any]:
    for value in values:
        if isinstance(value, tensor_class):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _find_tensors(value, tensor_class)
