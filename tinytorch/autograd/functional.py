"""Jacobians, Hessians and their products with vectors, from backward alone.

Source: `torch.autograd.functional`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..graph.modes import enable_grad, is_grad_enabled, set_grad_enabled
from ..ops import FUNCTIONS
from ..tensor import Tensor
from .derivatives import grad

_STRICT = "This is not allowed in strict mode"


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


def _prepared(inputs: tuple, create_graph: bool, need_graph: bool = True) -> tuple:
    """New tensors for the inputs, so that those that the function knows from elsewhere are others."""
    return tuple(
        [t.view_as(t) if create_graph and t.requires_grad else t.detach().requires_grad_(need_graph) for t in inputs]
    )


_NO_GRAD = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a "
    "differentiable manner from the input when running in strict mode.",
    "gradients": "The gradient with respect to input {} is independent of the inputs of the user-provided function. "
    f"{_STRICT}.",
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input "
    f"{{}} is independent of the input. {_STRICT}. You should ensure that your function is twice differentiable and that "
    "the jacobian depends on the inputs (this would be violated by a linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {} is independent of the input. "
    f"{_STRICT}. You should ensure that your function is thrice differentiable and that the hessian depends on the inputs.",
}


def _check(tensors: Any, what: str, strict: bool) -> None:
    """In strict mode, RuntimeError for a tensor that does not require grad."""
    for i, t in enumerate(tensors if strict else ()):
        if t is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}. {_STRICT}.")
        if not t.requires_grad:
            raise RuntimeError(_NO_GRAD[what].format(i))


def _outputs(func: Callable, inputs: tuple, function: str, strict: bool) -> tuple[bool, tuple]:
    several, outputs = _tensors(func(*inputs), "outputs of the user-provided function", function)
    _check(outputs, "outputs", strict)
    return several, outputs


_OF_INPUT = (
    "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
)


def _vector(v: Any, like: tuple, several: bool, function: str, create_graph: bool, missing: str = _OF_INPUT) -> Any:
    """The vector as a tuple of tensors of the same shapes as `like`; None if none was given and none is needed."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(missing)
        return None
    given = _prepared(_tensors(v, "v", function)[1], create_graph, need_graph=False)
    if len(given) != len(like):
        if several:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(given)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (a, b) in enumerate(zip(given, like, strict=True)):
        if a.shape != b.shape:
            where = f"Entry {i} in " if several else ""
            raise RuntimeError(f"{where}v has invalid size: should be {b.shape} but got {a.shape}.")
    return given


def _grads(outputs: tuple, inputs: tuple, starts: Any = None, **switches: Any) -> tuple:
    """The gradients of those outputs that have any."""
    starts = (None,) * len(outputs) if starts is None else starts
    live = [(o, s) for o, s in zip(outputs, starts, strict=True) if o is not None and o.requires_grad]
    if not live:
        return (None,) * len(inputs)
    return grad([o for o, _ in live], inputs, [s for _, s in live], allow_unused=True, **switches)


_INDEPENDENT = {
    "back": f"The output of the user-provided function is independent of input {{}}. {_STRICT}.",
    "back again": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the "
    f"double backward trick to compute forward mode gradients. {_STRICT}.",
    "twice back": f"The jacobian of the user-provided function is independent of input {{}}. {_STRICT}.",
    "twice back again": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. "
    f"{_STRICT} as it prevents from using the double backward trick to replace forward mode AD.",
}


def _filled(found: tuple, like: tuple, strict: bool, create_graph: bool, stage: str) -> tuple:
    """Zeros for gradients that there are none of; in strict mode a RuntimeError."""
    out = []
    for i, g in enumerate(found):
        if g is None and strict:
            raise RuntimeError(_INDEPENDENT[stage].format(i))
        if strict and create_graph and not g.requires_grad:
            what = "hessian" if stage.startswith("twice") else "jacobian"
            raise RuntimeError(
                f"The {what} of the user-provided function is independent of input {i}. {_STRICT} when "
                "create_graph=True."
            )
        out.append(FUNCTIONS["zeros_like"](like[i]) if g is None else g)
    return tuple(out)


def _result(found: tuple, several: bool, create_graph: bool) -> Any:
    found = found if create_graph else tuple([t.detach() for t in found])
    return found if several else found[0]


def vjp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of `v` with its Jacobian. RuntimeError for a `v` that does not fit."""
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "vjp")
        given = _prepared(given, create_graph)
        many_out, outputs = _outputs(func, given, "vjp", strict)
        vector = _vector(v, outputs, many_out, "vjp", create_graph, "The vector v can only be None if the user-provided "
                         "function returns a single Tensor with a single element.")  # fmt: skip
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(outputs, given, vector, create_graph=create_graph)
        filled = _filled(found, given, strict, create_graph, "back")
    return _result(outputs, many_out, create_graph), _result(filled, many_in, create_graph)


def jvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of its Jacobian with `v`, by going backward twice."""
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "jvp")
        given = _prepared(given, create_graph)
        vector = _vector(v, given, many_in, "jvp", create_graph)
        many_out, outputs = _outputs(func, given, "jvp", strict)
        starts = tuple([FUNCTIONS["zeros_like"](t, requires_grad=True) for t in outputs])
        first = _grads(outputs, given, starts, create_graph=True)
        _check(first, "gradients", strict)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(first, starts, vector, create_graph=create_graph)
        filled = _filled(found, outputs, strict, create_graph, "back again")
    return _result(outputs, many_out, create_graph), _result(filled, many_out, create_graph)


def _forward_mode(func: Callable, inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """What torch computes in forward mode, here from backward; the numbers are the same."""
    if create_graph:
        raise NotImplementedError(
            'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported '
            'together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    _tensors(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    return jacobian(func, inputs, vectorize=True)


def jacobian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Jacobian of `func` at `inputs`, of shape output + input; nested tuples (output, input) for several.

    AssertionError for another strategy than "reverse-mode" and "forward-mode". Source:
    `torch.autograd.functional.jacobian`.
    """
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(
            'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs '
            'than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _forward_mode(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        many_in, given = _tensors(inputs, "inputs", "jacobian")
        given = _prepared(given, create_graph)
        many_out, outputs = _outputs(func, given, "jacobian", strict)
        if vectorize and strict:
            raise RuntimeError(
                "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. "
                "Please either set `strict=False` or `vectorize=False`."
            )
        find = _all_rows if vectorize else _row_by_row
        rows = [_result(row, many_in, create_graph) for row in find(outputs, given, create_graph, strict)]
    return tuple(rows) if many_out else rows[0]


def _all_rows(outputs: tuple, inputs: tuple, create_graph: bool, strict: bool) -> list[tuple]:
    """The Jacobians by one call for batched gradients: the rows of a unit matrix, cut into the outputs' columns."""
    counts = [o.numel() for o in outputs]
    total, done, starts = sum(counts), 0, []
    for o, n in zip(outputs, counts, strict=True):
        start = o.new_zeros(total, n)
        start.diagonal(-done).fill_(1)
        starts.append(start)
        done += n
    flat = tuple([o.reshape(-1) for o in outputs])
    found = _grads(flat, inputs, starts, create_graph=create_graph, is_grads_batched=True)
    by_input = []
    for g, t in zip(found, inputs, strict=True):
        rows = FUNCTIONS["zeros_like"](t).expand(total, *t.shape) if g is None else g
        parts = zip(rows.split(counts, dim=0), outputs, strict=True)
        by_input.append([part.view((*o.shape, *t.shape)) for part, o in parts])
    return list(zip(*by_input, strict=True))


def _row_by_row(outputs: tuple, inputs: tuple, create_graph: bool, strict: bool) -> list[tuple]:
    """The Jacobians by one backward for each element of each output."""
    jacobians = []
    for nr, out in enumerate(outputs):
        columns: list[list[Tensor]] = [[] for _ in inputs]
        for at in range(out.numel()):
            found = _grads((out.reshape(-1)[at],), inputs, retain_graph=True, create_graph=create_graph)
            for i, (column, g) in enumerate(zip(columns, found, strict=True)):
                if strict and g is None:
                    raise RuntimeError(
                        f"Output {nr} of the user-provided function is independent of input {i}. {_STRICT}."
                    )
                if strict and create_graph and not g.requires_grad:
                    raise RuntimeError(
                        f"The jacobian of the user-provided function is independent of input {nr}. {_STRICT} when "
                        "create_graph=True."
                    )
                column.append(FUNCTIONS["zeros_like"](inputs[i]) if g is None else g)
        jacobians.append(
            tuple(
                [
                    FUNCTIONS["stack"](column).view((*out.shape, *t.shape))
                    for column, t in zip(columns, inputs, strict=True)
                ]
            )
        )
    return jacobians


def _single(several: bool, outputs: tuple, function: str) -> None:
    if several:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")


def hessian(
    func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False, vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:  # fmt: skip
    """The Hessian of a function with one element as its result, as the Jacobian of its Jacobian.

    RuntimeError for any other function. Source: `torch.autograd.functional.hessian`.
    """
    many_in, given = _tensors(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def value(*inputs: Tensor) -> Tensor:
        several, outputs = _outputs(func, inputs, "hessian", strict)
        _single(several, outputs, "hessian")
        return outputs[0].squeeze()

    def first(*inputs: Tensor) -> tuple:
        found = jacobian(value, inputs, create_graph=True)
        _check(found, "jacobian", strict)
        return found

    found = jacobian(first, given, create_graph, strict, vectorize, outer_jacobian_strategy)
    return found if many_in else found[0][0]


def _first(func: Callable, inputs: Any, v: Any, create_graph: bool, strict: bool, function: str) -> tuple:
    """What `vhp` and `hvp` begin with: inputs, vector, value, and the gradient with its graph."""
    many_in, given = _tensors(inputs, "inputs", function)
    given = _prepared(given, create_graph)
    vector = _vector(v, given, many_in, function, create_graph)
    several, outputs = _outputs(func, given, function, strict)
    _single(several, outputs, function)
    gradient = _grads(outputs, given, create_graph=True)
    _check(gradient, "jacobian", strict)
    return many_in, given, vector, outputs, gradient


def vhp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of `v` with its Hessian."""
    with enable_grad():
        many_in, given, vector, outputs, gradient = _first(func, inputs, v, create_graph, strict, "vhp")
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(gradient, given, vector, create_graph=create_graph)
        filled = _filled(found, given, strict, create_graph, "twice back")
    return _result(outputs, False, create_graph), _result(filled, many_in, create_graph)


def hvp(func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> tuple:
    """`func(inputs)` and the product of its Hessian with `v`, by going backward once more than `vhp`."""
    with enable_grad():
        many_in, given, vector, outputs, gradient = _first(func, inputs, v, create_graph, strict, "hvp")
        starts = tuple([FUNCTIONS["zeros_like"](t, requires_grad=True) for t in given])
        second = _grads(gradient, given, starts, create_graph=True)
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = _grads(second, starts, vector, create_graph=create_graph)
        filled = _filled(found, given, strict, create_graph, "twice back again")
    return _result(outputs, False, create_graph), _result(filled, many_in, create_graph)


__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]  # noqa: RUF022 - in torch's order
