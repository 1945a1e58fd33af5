"""Parameters: tensors that a module knows by name. Source: `torch.nn.parameter`."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ..tensor import Tensor, make_tensor


class Parameter(Tensor):
    """A leaf that requires grad, and is registered when it is set as a module's attribute.

    It shares memory and version counter with `data`.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        """Make a parameter. RuntimeError for integers with `requires_grad`."""
        parameter: Any = make_tensor(np.empty(0, np.float32)) if data is None else data.detach()
        if requires_grad and not parameter.is_floating_point():
            raise RuntimeError(
                "Only Tensors of floating point and complex dtype can require gradients"
            )
        parameter.__class__ = cls
        return parameter.requires_grad_(requires_grad)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    # PyTorch's has no `__copy__`: `copy.copy` then goes by `__reduce_ex__`, and makes a parameter.
    __copy__: Any = None

    def __reduce_ex__(self, protocol: Any) -> tuple:
        state = (dict(self.__dict__),) if self.__dict__ else ()
        return (Parameter, (self.data, self.requires_grad), *state)
