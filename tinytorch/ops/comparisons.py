"""Comparisons, logic and bits: pointwise operations without derivatives. Source: `torch.eq` and so on, by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from ..autograd.node import not_differentiable
from ..tensor import Tensor
from .creation import zeros_like
from .define import op, python
from .from_data import from_numpy
from .kernels import composite, pointwise, result_dtype, shape_of_all, write

NUMBER = (int, float, np.number, np.bool_)


def reflected(symbol: str, function: Any) -> None:
    """Offer Python's operator for a number on the left, where it does not commute: `function(number, tensor)`."""

    def method(self: Tensor, other: Any) -> Any:
        return function(other, self) if isinstance(other, (Tensor, *NUMBER)) else NotImplemented

    python(f"__r{symbol}__", method, function=False)


# comparisons ----------------------------------------------------------------------------------------------------------

# in place a comparison has a node, whose gradients are zero
_NONE: dict[str, Any] = {"self": lambda grad: zeros_like(grad), "function": False, "writes": 1}
_NEITHER = _NONE | {"other": lambda grad: zeros_like(grad)}
for _name, _ufunc, _takes in (
    ("eq", np.equal, "bifw"), ("ne", np.not_equal, "bifw"), ("lt", np.less, "bif"), ("le", np.less_equal, "bif"),
    ("gt", np.greater, "bif"), ("ge", np.greater_equal, "bif"),
):  # fmt: skip
    _kernel, _node = pointwise(_ufunc, "bool", takes=_takes, stub=f"{_name}_cpu"), f"{_name.title()}Backward"
    op(f"{_name}(Tensor self, Tensor other)", _kernel, operator=_name)
    op(f"{_name}(Tensor self, Scalar other)", _kernel)
    op(f"{_name}_(Tensor(a!) self, Tensor other)", write(_kernel.written), backward=_node + "1", **_NEITHER)
    op(f"{_name}_(Tensor(a!) self, Scalar other)", write(_kernel.written), backward=_node + "0", **_NONE)


def _contains(self: Tensor, element: Any) -> bool:
    if isinstance(element, (Tensor, *NUMBER)):
        return bool((self == element)._data.any())
    raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")


def _equals(self: Tensor, other: Any) -> Any:
    found = _equals_tensor(self, other)
    if found is NotImplemented and isinstance(other, np.ndarray):  # here alone torch takes an array
        return self == from_numpy(other)
    return found


_equals_tensor = Tensor.__eq__
python("__eq__", _equals, function=False)
python("__contains__", _contains, function=False)
isnan = op("isnan(Tensor self)", pointwise(np.isnan, "bool"), out=False)
isinf = op("isinf(Tensor self)", pointwise(np.isinf, "bool"), out=False)
isfinite = op("isfinite(Tensor self)", pointwise(np.isfinite, "bool"), out=False)

# logic and bits -------------------------------------------------------------------------------------------------------

logical_not = op("logical_not(Tensor self)", pointwise(np.logical_not, "bool", takes="bif", stub="logical_not_cpu"),
                 in_place=True)  # fmt: skip
logical_and, logical_or, logical_xor = [
    op(f"{_f.__name__}(Tensor self, Tensor other)", pointwise(_f, "bool", takes="bif", stub=f"{_f.__name__}_cpu"),
       in_place=True) for _f in (np.logical_and, np.logical_or, np.logical_xor)]  # fmt: skip
bitwise_not = op("bitwise_not(Tensor self)", pointwise(np.invert, takes="bi", stub="bitwise_not_cpu"), out="found",
                 node=not_differentiable("aten::bitwise_not"))  # fmt: skip


def _invert(self: Tensor) -> Tensor:
    if self.dtype.is_floating_point:
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return bitwise_not(self)


python("__invert__", _invert, function=False)


for _symbol in ("and", "or", "xor"):
    _name = f"bitwise_{_symbol}"
    _kernel = pointwise(getattr(np, _name), takes="biw", stub=f"{_name}_cpu")
    _node = not_differentiable(f"aten::{_name}")
    op(f"{_name}(Tensor self, Tensor other)", _kernel, operator=_symbol, node=_node)
    reflected(_symbol, op(f"{_name}(Scalar self, Tensor other)", _kernel, method=False, in_place=False, out=False))
    op(f"{_name}(Tensor self, Scalar other)", _kernel, node=_node)

# whole tensors --------------------------------------------------------------------------------------------------------


def _equal(self: Tensor, other: Tensor) -> bool:
    a, b = self._data, other._data
    return a.shape == b.shape and bool((a == b).all())


def _allclose(self: Tensor, other: Tensor, rtol: float, atol: float, equal_nan: bool) -> bool:
    if self.dtype != other.dtype:
        raise RuntimeError(f"{self.dtype.scalar_name} did not match {other.dtype.scalar_name}")
    shape_of_all(self._data, other._data)
    return bool(np.allclose(self._data, other._data, rtol, atol, equal_nan))


op("allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> bool",
   composite(_allclose))  # fmt: skip
op("equal(Tensor self, Tensor other) -> bool", composite(_equal))

# what dtype operands meet in ------------------------------------------------------------------------------------------


def _result_type(one: Any, other: Any) -> dtypes.dtype:
    return result_dtype(*[x._data if isinstance(x, Tensor) else x for x in (one, other)])


for _operands in ("Tensor tensor, Tensor other", "Scalar scalar, Tensor tensor", "Tensor tensor, Scalar other",
                  "Scalar scalar1, Scalar scalar2"):  # fmt: skip
    op(f"result_type({_operands}) -> ScalarType", composite(_result_type), method=False)
op("promote_types(ScalarType type1, ScalarType type2) -> ScalarType", composite(dtypes.promote_types), method=False)
op("can_cast(ScalarType from_, ScalarType to) -> bool", composite(dtypes.can_cast), method=False)
