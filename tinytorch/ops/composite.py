"""Formulas that stand in the graph as one node, as torch's own backward kernels do.

torch has kernels such as `sigmoid_backward`; differentiating through one shows a single `SigmoidBackwardBackward0`. Here
such a kernel is a formula in tensors. Its node keeps the formula's inputs and, when it runs, differentiates the formula.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..graph import backward
from ..graph.history import edge_of, needs_grad, set_history
from ..graph.modes import MODES, enable_grad, no_grad
from ..graph.node import Node, SavedTensor, node
from ..graph.saved import FREED, shown
from ..tensor import Tensor
from .core import record, recording

_AliasBackward0 = node("AliasBackward0", lambda grad: grad)


class Composite(Node):
    """The node of a formula: its backward runs the formula again and differentiates it."""

    __slots__ = ("formula", "numbers", "writes")
    writes: tuple[int, ...]  # how often torch's kernels write to each gradient that this hands on

    def apply(self, grads: tuple) -> tuple:
        """The gradients of the formula's inputs. RuntimeError if what it saved was freed or changed since."""
        if self._saved is None:
            raise RuntimeError(FREED)
        inputs = [s.unpack(self) if isinstance(s, SavedTensor) else s for s in self._saved]
        again = MODES.here.grad
        with enable_grad():
            shadows = [self._shadow(t, again) if e is not None else t for t, e in zip(inputs, self._edges, strict=True)]
            out = self.formula(*shadows)
        goals = tuple(edge_of(s) if e is not None else None for s, e in zip(shadows, self._edges, strict=True))
        if edge_of(out) is None:
            return tuple(None if e is None else t.new_zeros(t.shape) for t, e in zip(inputs, self._edges, strict=True))
        found = backward.run((edge_of(out),), (grads[0],), again, again, goals, False)
        given = {id(t._own_counter()) for t in (grads[0], *inputs) if isinstance(t, Tensor)}
        for g, writes in itertools.zip_longest(found, self.writes[: len(found)], fillvalue=0):
            if g is not None and not ((again and not writes) or g._inference) and id(g._own_counter()) not in given:
                g._own_counter().version = writes  # sums made on the way count as writes, which the kernels do not do
        # what the formula does not depend on has a derivative of zeros, not none, in torch's kernels
        return tuple(
            t.new_zeros(t.shape) if g is None and e is not None else g
            for g, t, e in zip(found, inputs, self._edges, strict=True)
        )

    @staticmethod
    def _shadow(t: Tensor, differentiable: bool) -> Tensor:
        """A stand-in for an input, so that the derivative is taken with respect to this input alone."""
        shadow = t.detach()
        if differentiable and needs_grad(t):
            return record(shadow, _AliasBackward0, (t,))
        return shadow.requires_grad_()


def _input(at: int) -> property:
    def read(fn: Composite) -> Any:
        if fn._saved is None:
            raise RuntimeError(FREED)
        return shown(fn._saved[at], fn)

    return property(read)


def _number(name: str) -> property:
    return property(lambda fn: fn.numbers[name])


@functools.cache
def _kind(name: str, inputs: tuple[str, ...], numbers: tuple[str, ...]) -> type:
    body: dict[str, Any] = {f"_saved_{n}": _input(at) for at, n in enumerate(inputs) if n}
    body |= {f"_saved_{n}": _number(n) for n in numbers}
    return type(name, (Composite,), {"__slots__": (), "__module__": "builtins", "__doc__": f"torch's {name}.", **body})


def in_float(formula: Callable[..., Tensor], inputs: tuple) -> Tensor:
    """What a formula gives as torch's kernels compute it: float16 as float32, rounded once."""
    if inputs[0]._data.dtype != np.float16:
        return formula(*inputs)
    halves = [isinstance(t, Tensor) and t._data.dtype == np.float16 for t in inputs]
    return formula(*[t.float() if is_half else t for t, is_half in zip(inputs, halves, strict=True)]).half()


def one_node(
    name: str, formula: Callable[..., Tensor], inputs: tuple[str, ...] = (), **numbers: Any
) -> Callable[..., Tensor]:
    """Make a formula of tensors (and None) an operation whose history is one node called `name`.

    `inputs` and `numbers`: under which names the node shows them as saved ("" for an input that it does not show).
    """
    kind = _kind(name, inputs, tuple(numbers))

    def operation(*inputs: Any) -> Tensor:
        with no_grad():
            out = in_float(formula, inputs)
        tensors = [t for t in inputs if isinstance(t, Tensor)]
        if recording(*tensors):
            fn = kind(
                tuple(edge_of(t) if isinstance(t, Tensor) else None for t in inputs),
                tuple(SavedTensor(t) if isinstance(t, Tensor) else t for t in inputs),
            )
            fn.formula, fn.numbers, fn.writes = formula, numbers, ()
            out = out.detach() if out._view is not None else out
            fn.describe(out)
            set_history(out, fn)
        return out

    return operation
