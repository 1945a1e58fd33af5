"""Jacobians, Hessians and their products with vectors, from backward alone.

Source: `torch.autograd.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.modes import enable_grad
from ..ops import FUNCTIONS
from ..tensor import Tensor
from .derivatives import grad


def _tensors(x: Any, what: str, function: str) -> tuple[bool, tuple]:
    """Whether a tuple was given, and it as one. TypeError in torch's words for what is no tensor."""
    several = isinstance(x, tuple)
    found = x if several else (x,)
    for i, t in enumerate(found):
        if not isinstance(t, Tensor):
            which = f"value at index {i}" if several else f"given {what}"
            raise TypeError(
                f"The {what} given to {function} must be either a Tensor or a tuple of Tensors but the {which} has "
                f"type {type(t)}."
            )
    return several, found


def _prepared(inputs: tuple, create_graph: bool) -> tuple:
    return tuple(t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_() for t in inputs)


def _outputs(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple[bool, tuple]:
    several, outputs = _tensors(func(*inputs), "outputs of the user-provided function", function)
    for i, t in enumerate(outputs):
        if strict and not t.requires_grad:
            raise RuntimeError(
                f"Output {i} of the user-provided function does not require gradients. The outputs must be computed in "
                "a differentiable manner from the input when running in strict mode."
            )
    return several, outputs


def _vector(v: Any, like: tuple, several: bool, function: str, missing: str) -> tuple:
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(missing)
        return (FUNCTIONS["ones_like"](like[0]),)
    _, given = _tensors(v, "v", function)
    if len(given) != len(like):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(given, like, strict=True)):
        if a.shape != b.shape:
            where = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{where}v has invalid size: should be {b.shape} but got {a.shape}.")
    return tuple(t.detach() for t in given)


def _grads(outputs: tuple, inputs: tuple, starts: Any, create_graph: bool, keep: bool | None = None) -> list:
    """Gradients with zeros for inputs that the outputs do not depend on."""
    live = [i for i, t in enumerate(outputs) if t.requires_grad]
    found: Any = (None,) * len(inputs)
    if live:
        starts = None if starts is None else [starts[i] for i in live]
        found = grad([outputs[i] for i in live], inputs, starts, keep, create_graph, allow_unused=True)
    return [FUNCTIONS["zeros_like"](t) if g is None else g for g, t in zip(found, inputs, strict=True)]


def _result(found: Any, several: bool, create_graph: bool) -> Any:
    found = tuple(found) if create_graph else tuple(t.detach() for t in found)
    return found if several else found[0]


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of `v` with its Jacobian. RuntimeError for a `v` that does not fit."""
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "vjp")
        given = _prepared(given, create_graph)
        many_out, outputs = _outputs(func, given, "vjp", strict)
        vector = _vector(v, outputs, many_out, "vjp", "The vector v can only be None if the user-provided function "
                         "returns a single Tensor with a single element.")  # fmt: skip
        found = _grads(outputs, given, vector, create_graph)
    return _result(outputs, many_out, create_graph), _result(found, many_in, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of its Jacobian with `v`, by going backward twice."""
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "jvp")
        given = _prepared(given, create_graph)
        vector = _vector(v, given, many_in, "jvp", "The vector v can only be None if the input to the user-provided "
                         "function is a single Tensor with a single element.")  # fmt: skip
        many_out, outputs = _outputs(func, given, "jvp", strict)
        starts = tuple(FUNCTIONS["zeros_like"](t, requires_grad=True) for t in outputs)
        first = tuple(_grads(outputs, given, starts, True))
        found = _grads(first, starts, vector, create_graph)
    return _result(outputs, many_out, create_graph), _result(found, many_out, create_graph)


def jacobian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of `func` at `inputs`, of shape output + input; nested tuples (output, input) for several.

    NotImplementedError for forward mode. `vectorize` is taken and changes nothing. Source:
    `torch.autograd.functional.jacobian`.
    """
    if strategy != "reverse-mode":
        raise NotImplementedError("tinytorch differentiates in reverse mode alone")
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "jacobian")
        given = _prepared(given, create_graph)
        many_out, outputs = _outputs(func, given, "jacobian", strict)
        rows = []
        for nr, out in enumerate(outputs):
            found = [_row(nr, each, given, create_graph, strict) for each in out.reshape(-1).unbind()]
            columns = zip(*found, strict=True) if found else ((),) * len(given)
            row = []
            for each, t in zip(columns, given, strict=True):
                stacked = FUNCTIONS["stack"](each) if each else t.new_zeros((0, *t.shape))
                row.append(stacked.view((*out.shape, *t.shape)))
            rows.append(_result(row, many_in, create_graph))
    return tuple(rows) if many_out else rows[0]


def _row(nr: int, out: Tensor, inputs: tuple, create_graph: bool, strict: bool) -> list:
    if strict:
        for i, g in enumerate(grad(out, inputs, retain_graph=True, create_graph=create_graph, allow_unused=True)):
            if g is None:
                raise RuntimeError(
                    f"Output {nr} of the user-provided function is independent of input {i}. This is not allowed in "
                    "strict mode."
                )
            if create_graph and not g.requires_grad:
                raise RuntimeError(
                    f"The jacobian of the user-provided function is independent of input {nr}. This is not allowed in "
                    "strict mode when create_graph=True."
                )
    return _grads((out,), inputs, None, create_graph, keep=True)


def _scalar(func: Callable, function: str) -> Callable:
    def single(*inputs: Tensor) -> Tensor:
        out = func(*inputs)
        if not isinstance(out, Tensor):
            raise RuntimeError(f"The function given to {function} should return a single Tensor")
        if out.numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {function} should contain a single element"
            )
        return out.squeeze()

    return single


def hessian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function with one element as its result, as the Jacobian of its Jacobian."""
    many_in, given = _tensors(inputs, "inputs", "hessian")
    single = _scalar(func, "hessian")

    def first(*inputs: Tensor) -> tuple:
        return tuple(jacobian(single, inputs, True, strict))

    found = jacobian(first, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many_in else found[0][0]


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of `v` with its Hessian."""
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "vhp")
        given = _prepared(given, create_graph)
        vector = _vector(v, given, many_in, "vhp", "The vector v can only be None if the input to the user-provided "
                         "function is a single Tensor with a single element.")  # fmt: skip
        out = _scalar(func, "vhp")(*given)
        first = tuple(_grads((out,), given, None, True))
        found = _grads(first, given, vector, create_graph)
    return _result((out,), False, create_graph), _result(found, many_in, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of its Hessian with `v`; the Hessian being symmetric, as `vhp`."""
    return vhp(func, inputs, v, create_graph, strict)


__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
