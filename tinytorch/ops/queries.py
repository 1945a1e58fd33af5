"""What can be asked of tensors as functions of `torch`, and the old element by element methods."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..dtypes import dtype
from ..naming import type_name
from ..storage import UntypedStorage
from ..tensor import Tensor
from ..warn import warn_user
from .core import FUNCTIONS, check_inplace, expect_tensor, op, tensor_type
from .layouts import inner_first


def _ask(name: str, question: Callable[[Tensor], Any], what: str, method: bool = False) -> None:
    def function(input: Tensor) -> Any:
        return question(expect_tensor(input, name))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{what}\n\nSource: `torch.{name}`."
    op(name, method=method)(function)


_ask("is_floating_point", Tensor.is_floating_point, "Whether the dtype is a floating point type.")
_ask("is_complex", Tensor.is_complex, "Whether the dtype is complex.")
_ask("is_signed", Tensor.is_signed, "Whether the dtype has negative values.")
_ask("is_inference", Tensor.is_inference, "Whether the tensor was made in inference mode.")
_ask("numel", Tensor.numel, "The number of elements.")
_ask("is_nonzero", lambda t: bool(t), "Whether the one element is not zero; RuntimeError for any other count.", True)
_ask("is_conj", lambda t: False, "Whether the tensor is a lazy conjugate: never here.", True)
_ask("is_neg", lambda t: False, "Whether the tensor is a lazy negative: never here.", True)
_ask("resolve_conj", lambda t: t, "The tensor itself: there is nothing lazy to resolve.", True)
_ask("resolve_neg", lambda t: t, "The tensor itself: there is nothing lazy to resolve.", True)


@op()
def is_same_size(self: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape.

    Source: `torch.is_same_size`.
    """
    return self._data.shape == other._data.shape


@op(function=False)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors are the same view: storage, offset, shape and strides.

    Source: `torch.Tensor.is_set_to`.
    """
    a, b = self._data, tensor._data
    return self._own_storage() is tensor._own_storage() and (self._offset, a.shape, a.strides) == (
        tensor._offset,
        b.shape,
        b.strides,
    )


@op("is_storage", method=False)
def is_storage(obj: Any, /) -> bool:
    """Whether an object is a storage.

    Source: `torch.is_storage`.
    """
    return isinstance(obj, UntypedStorage) or type(obj).__name__ == "TypedStorage"


@op("typename", method=False)
def typename(obj: Any, /) -> str:
    """The name of an object's type: a tensor's legacy type, else its module and name.

    Source: `torch.typename`.
    """
    if isinstance(obj, Tensor):
        return tensor_type(obj)
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    if isinstance(obj, dtype):
        return "torch.dtype"
    module = getattr(kind, "__module__", None) or ""
    if module in ("builtins", ""):
        return kind.__qualname__
    if module.startswith("tinytorch."):
        if not isinstance(kind, type):
            return _place(kind, module)
        return repr(kind).partition("'")[2].partition("'")[0].replace("tinytorch.", "torch.")
    return f"{module}.{kind.__qualname__}"


def _place(function: Any, module: str) -> str:
    """Where a function stands in torch."""
    name = function.__name__
    if FUNCTIONS.get(name) is function:
        return f"torch._VariableFunctionsClass.{name}"
    if module.startswith("tinytorch.nn.") and module != "tinytorch.nn.init":
        return f"torch.nn.functional.{name}"
    return f"{module.removeprefix('tiny')}.{name}"


@op(function=False)
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is pinned for a faster way to a GPU: never, there is none.

    Source: `torch.Tensor.is_pinned`.
    """
    return False


@op(function=False)
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """Never possible: RuntimeError in torch's words for a machine without a GPU. Source: `torch.Tensor.pin_memory`."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


@op(function=False)
def is_shared(self: Tensor) -> bool:
    """Whether other processes see this memory: never on the CPU here, always (as torch has it) on cuda.

    Source: `torch.Tensor.is_shared`.
    """
    return self._own_storage().is_shared()


# element by element in Python --------------------------------------------------------------------------------------------


def _mapped(name: str, self: Tensor, others: tuple[Tensor, ...], function: Callable) -> Tensor:
    if self.requires_grad or any(t.requires_grad for t in others):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    check_inplace(self, False)
    if not callable(function):
        raise TypeError(f"'{type_name(function)}' object is not callable")
    for t, what in zip(others, ("other",) if len(others) == 1 else ("x", "y"), strict=False):
        if t.dtype is not self.dtype:
            raise TypeError(f"{name}: expected {tensor_type(self)} for '{what}' (got {tensor_type(t)})")
    arrays = [t.expand(self._data.shape)._data for t in others]
    for i in np.ndindex(self._data.shape):
        value = function(self._data[i].item(), *(a[i].item() for a in arrays))
        if not isinstance(value, (int, float, Tensor)):
            kind = type_name(value)
            raise TypeError(
                f"must be real number, not {kind}"
                if self.is_floating_point()
                else f"'{kind}' object cannot be interpreted as an integer"
            )
        self._data[i] = value.item() if isinstance(value, Tensor) else value
    return self


@op(function=False)
def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function gives for it; autograd and version counters do not see it.

    RuntimeError if the tensor requires grad. Source: `torch.Tensor.apply_`.
    """
    return _mapped("apply_", self, (), callable)


@op(function=False)
def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace each element by a Python function of it and of another tensor's element.

    Source: `torch.Tensor.map_`.
    """
    return _mapped("map_", self, (tensor,), callable)


@op(function=False)
def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable) -> Tensor:
    """Replace each element by a Python function of it and of two other tensors' elements.

    Source: `torch.Tensor.map2_`.
    """
    return _mapped("map2_", self, (x, y), callable)


@op("__reversed__", function=False)
def _reversed(self: Tensor) -> Tensor:
    """The tensor with its first dimension from the end, as a new tensor; a 0-d tensor itself."""
    return self if self._data.ndim == 0 else self.flip(0)


# what torch has for complex tensors, of which there are none here --------------------------------------------------------


_ask("conj", lambda t: t, "The tensor itself, as it is for every dtype that is not complex.", True)
_ask("conj_physical", lambda t: t, "The tensor itself, as it is for every dtype that is not complex.", True)
_ask("real", lambda t: t, "The tensor itself, as it is for every dtype that is not complex.")


@op(method=False)
def imag(input: Tensor) -> Tensor:
    """The imaginary part: RuntimeError, as in torch for dtypes that are not complex. Source: `torch.imag`."""
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


_ELSEWHERE = "ipu maia mps mtia sparse_csr vulkan xla xpu"  # devices and layouts that no tensor here is of
for _name in _ELSEWHERE.split():
    setattr(Tensor, f"is_{_name}", property(lambda self: False, doc=f"Whether the tensor is one of {_name}: never."))


def _volatile(self: Tensor) -> bool:
    """False, with torch's warning that the switch is gone."""
    warn_user("volatile was removed (Variable.volatile is always False)")
    return False


Tensor.volatile = property(_volatile)  # type: ignore[attr-defined]
Tensor.real = property(lambda self: self, lambda self, value: self.copy_(value), doc="The tensor itself.")  # type: ignore[attr-defined]
Tensor.imag = property(imag, doc="RuntimeError, as in torch for dtypes that are not complex.")  # type: ignore[attr-defined]


@op(function=False)
def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost.

    `ambiguity_check`: True, or the memory formats that settle it; RuntimeError where several orders would do.
    Source: `torch.Tensor.dim_order`.
    """
    if not isinstance(ambiguity_check, (bool, list)):
        raise TypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, steps = self.shape, self.stride()
    if ambiguity_check is not False and (1 in shape or any(a == b for a, b in itertools.pairwise(steps))):
        formats = ambiguity_check if isinstance(ambiguity_check, list) else ()
        if sum(self.is_contiguous(memory_format=f) for f in formats) != 1:
            raise RuntimeError(
                "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
            )
    if ambiguity_check is not False and 0 in steps:
        raise RuntimeError("The tensor does not have unique dim order.")
    return tuple(reversed(inner_first(steps, shape))) if self.numel() else tuple(range(len(shape)))


for _name in ("element_size", "get_device", "is_complex", "is_contiguous", "is_floating_point", "is_inference",
              "is_signed", "item", "ndimension", "nelement", "requires_grad_", "retain_grad", "storage_offset", "tolist",
              "untyped_storage", "data_ptr", "detach_", "dim", "numel", "size", "stride"):  # fmt: skip
    op(_name, function=_name == "get_device")(vars(Tensor)[_name])
