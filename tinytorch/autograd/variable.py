"""Variable, what tensors with gradients were called once. Source: `torch.autograd.Variable`."""

from __future__ import annotations

from typing import Any

from ..naming import type_name
from ..ops import FUNCTIONS
from ..tensor import Tensor
from ..warn import warn_user
from .running import _EngineBase


class VariableMeta(type):
    """Every tensor is an instance of Variable."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """A plain tensor over the same memory as `data`, without history.

    TypeError unless `data` is a tensor or missing. Source: `torch.autograd.Variable`.
    """

    _execution_engine = _EngineBase()

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Make the tensor that shares the data's memory."""
        given = dict(zip(("data", "requires_grad", "volatile"), args, strict=False)) | kwargs
        for name in given:
            if name not in ("data", "requires_grad", "volatile", "_grad_fn", "name"):
                raise TypeError(f"'{name}' is an invalid keyword argument for this function")
        data, requires_grad = given.get("data"), bool(given.get("requires_grad"))
        if given.get("volatile"):
            warn_user("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is None:
            data = FUNCTIONS["empty"](0)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type_name(data)}")
        if requires_grad and not data.is_floating_point():
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        out = data.detach()
        out._requires_grad = requires_grad
        return out


Variable.__module__ = "torch.autograd.variable"

__all__ = ["Variable"]
