"""Parameters and buffers: tensors that a module knows by name."""

from __future__ import annotations

from typing import Any

from ..ops.creation import fresh
from ..slots import TensorMeta
from ..tensor import Tensor


class _ParameterMeta(TensorMeta):
    def __repr__(cls) -> str:  # noqa: N805 - of a metaclass
        return "<class 'torch.nn.parameter.Parameter'>" if cls.__name__ == "Parameter" else super().__repr__()


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that requires grad and registers itself when set as a module's attribute.

    `data`: a tensor, whose memory and version counter it shares. RuntimeError for integer data.
    Source: `torch.nn.Parameter`.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        """Make a parameter that shares the memory of `data`."""
        import numpy as np

        base = fresh(np.empty(0, np.float32)) if data is None else data.detach()
        if requires_grad and not base.is_floating_point():
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        base.__class__ = cls
        base._set_requires_grad(requires_grad)
        return base

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + super().__repr__()

    def __deepcopy__(self, memo: dict) -> Parameter:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        return memo[id(self)]

    def __copy__(self) -> Parameter:
        made = Parameter(self.data, self.requires_grad)
        made.__dict__.update(self.__dict__)
        return made

    def __reduce_ex__(self, protocol: Any) -> tuple:
        state = (dict(self.__dict__),) if self.__dict__ else ()
        return _rebuild, (self.data, self.requires_grad), *state


def _rebuild(data: Tensor, requires_grad: bool) -> Parameter:
    return Parameter(data, requires_grad)


class _BufferMeta(TensorMeta):
    """Any tensor that `Buffer` marked answers `isinstance`: a buffer's class is Tensor, in torch as well."""

    def __instancecheck__(cls, obj: Any) -> bool:  # noqa: N805 - of a metaclass
        return isinstance(obj, Tensor) and obj.__dict__.get("_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that registers itself as a buffer when set as a module's attribute.

    Source: `torch.nn.Buffer`.
    """

    __slots__ = ()

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        """Make a buffer that shares the memory of `data`."""
        base = Tensor(0) if data is None else data.detach().requires_grad_(data.requires_grad)
        base._is_buffer, base.persistent = True, persistent
        return base
