"""What a tensor tells about its gradients and is seldom asked for. Source: `torch.Tensor`."""

from __future__ import annotations

import weakref
from typing import Any

from .. import dtypes
from ..graph import hooks
from ..naming import type_name
from ..tensor import Tensor
from ..warn import warn_user


def _refuse_deleting(message: str) -> Any:
    def refuse(self: Tensor) -> None:
        raise RuntimeError(message)

    return refuse


def _name(self: Tensor) -> None:
    """The name of the tensor; there is no way left to give it one."""


def _refuse_naming(self: Tensor, value: Any = None) -> None:
    raise AttributeError("attribute 'name' of 'torch._C.TensorBase' objects is not writable")


def _volatile(self: Tensor) -> bool:
    """Always False, and warns: it was removed from torch."""
    warn_user("volatile was removed (Variable.volatile is always False)")
    return False


def _set_volatile(self: Tensor, value: Any = None) -> None:
    warn_user("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")


def _grad_dtype(self: Tensor) -> dtypes.dtype | None:
    """The dtype that `.grad` is to have, None if any will do. RuntimeError if this is no leaf."""
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be accessed on leaf tensors.")
    kind = self._data.dtype if self._hooks is None else self._hooks.dtype_of_grad(self)
    return kind and dtypes.BY_NUM[kind.num]


def _set_grad_dtype(self: Tensor, value: dtypes.dtype | None) -> None:
    if value is not None and not isinstance(value, dtypes.dtype):
        raise RuntimeError(f"grad_dtype must be a torch.dtype or None, but got {type_name(value)}")
    grad = self.grad  # which warns if this is no leaf
    if value is not None and grad is not None and grad.dtype is not value:
        raise RuntimeError(
            f"Cannot set grad_dtype to '{value.scalar_name}' because there is already a gradient with dtype "
            f"'{dtypes.cpp_name(grad.dtype)}'. Please clear the gradient (.grad = None) before changing grad_dtype, or "
            "ensure the new grad_dtype matches the existing gradient's dtype."
        )
    if not self.is_leaf:
        raise RuntimeError("grad_dtype can only be set on leaf tensors.")
    hooks.tensor_hooks(self).grad_dtype = value and value.np
    accumulator = self._acc() if isinstance(self._acc, weakref.ref) else self._acc
    if accumulator is not None:
        accumulator._dtype = value and value.np


def _node(self: Tensor) -> Any:
    """`grad_fn` under the name by which it can be let go."""
    return self.grad_fn


def _cut_off(self: Tensor, value: None) -> None:
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _backward_hooks(self: Tensor) -> Any:
    """The hooks on this tensor's gradient, by their handles' numbers; None if there never was one."""
    return None if self._hooks is None else self._hooks.on_grad


def _set_backward_hooks(self: Tensor, value: Any) -> None:
    hooks.tensor_hooks(self).on_grad = value


def _after_accumulate(self: Tensor) -> Any:
    """The hooks that run after `.grad` was accumulated; None if there never was one."""
    return None if self._hooks is None else self._hooks.after_accumulate


Tensor.name = property(_name, _refuse_naming, _refuse_naming)
Tensor.volatile = property(_volatile, _set_volatile, _set_volatile)
Tensor.grad_dtype = property(_grad_dtype, _set_grad_dtype)
Tensor._grad_fn = property(
    _node, _cut_off, _refuse_deleting("Deletion of _grad_fn not allowed. Detach tensor instead!")
)
Tensor._post_accumulate_grad_hooks = property(_after_accumulate)
Tensor._backward_hooks = property(
    _backward_hooks, _set_backward_hooks, _refuse_deleting("Deletion of _backwards_hooks not allowed!")
)
Tensor.requires_grad = Tensor.requires_grad.deleter(_refuse_deleting("requires_grad must be a bool"))  # type: ignore[attr-defined]
