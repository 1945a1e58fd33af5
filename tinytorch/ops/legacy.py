"""The old class names, `torch.FloatTensor` and its like: constructors that also answer `isinstance` by dtype."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..devices import CPU
from ..tensor import Tensor
from .core import FUNCTIONS
from .creation import legacy_constructor


class _TensorType(type):
    """The class of `torch.FloatTensor`: calling it makes a tensor of its dtype."""

    dtype: dtypes.dtype

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return legacy_constructor(cls, *args, d=cls.dtype, **kwargs)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and obj._device is CPU

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def _declare(d: dtypes.dtype) -> None:
    doc = f"The old name of a `{d!r}` tensor: a constructor, and a class for `isinstance`."
    FUNCTIONS[d.tensor_type] = _TensorType(d.tensor_type, (), {"dtype": d, "__module__": "torch", "__doc__": doc})


for _d in dtypes.ALL:
    if not _d.name.startswith("uint") or _d is dtypes.uint8:
        _declare(_d)
