"""The old constructors: `torch.Tensor(...)`, and `torch.FloatTensor(...)` and its kin.

Sizes give an uninitialised tensor, a sequence gives its copy, a tensor gives an alias of itself.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import dtypes
from ..devices import CPU
from ..errors import ShownAs, type_name
from ..tensor import Size, Tensor, device_of
from .copies import alias
from .creation import check_size
from .define import python
from .from_data import array_of, finish, is_sequence
from .schema import Schema, Signature, mismatch

_WAYS = [Signature(Schema(line), "new", False, False, False) for line in (
    "new(*, Device? device=None)", "new(Storage storage)", "new(Tensor other)", "new(SymInt[] size, *, Device? device=None)",
    "new(PyObject data, *, Device? device=None)")]  # fmt: skip


def legacy_constructor(cls: type, *args: Any, d: dtypes.dtype | None = None, **named: Any) -> Tensor:
    """A tensor as an old constructor makes it; `d` is the dtype of the class, None for `torch.Tensor` itself.

    TypeError for what no old constructor takes.
    """
    made = _made(_read(args, named), d or dtypes.get_default_dtype(), d is None)
    if cls is not Tensor and isinstance(cls, type) and issubclass(cls, Tensor):
        made.__class__ = cls
    return made


def _read(args: tuple, named: dict) -> dict[str, Any]:
    """The arguments by name, by the first of torch's ways to read them that fits."""
    for way in _WAYS:
        found = way.match(args, named)
        if isinstance(found, str):
            continue
        if args and found.get("size") is args[0] and not isinstance(args[0], Size):
            return {"data": args[0]}  # only a Size alone gives sizes
        way.unpack(found)
        return found
    raise mismatch("new", _WAYS, args, named)


def _made(found: dict, d: dtypes.dtype, any_dtype: bool) -> Tensor:
    if "other" in found:
        other = found["other"]
        if not any_dtype and other.dtype is not d:
            raise TypeError(f"expected a tensor of dtype {d!r} (got {other.dtype!r})")
        return alias(other)
    if "data" in found:
        data = found["data"]
        if not is_sequence(data) and not isinstance(data, (str, bytes)):
            raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
        return finish(array_of(data, d), CPU)
    made = finish(np.zeros(0, d.np), CPU)
    if "storage" in found:
        return made.set_(found["storage"])
    size = tuple([n.__index__() for n in found.get("size", (0,))])
    check_size(size)
    return finish(np.zeros(size, d.np), CPU)


class TensorType(ShownAs, type, metaclass=ShownAs):
    """The class of `torch.FloatTensor`: calling it makes a tensor of its dtype; it answers `isinstance` by dtype."""

    shown_as = "torch.tensortype"

    dtype: dtypes.dtype

    def __new__(mcs, d: dtypes.dtype) -> Self:  # type: ignore[misc]
        """Make the class of tensors of one dtype."""
        name, doc = d.tensor_type, f"The old name of a `{d!r}` tensor: a constructor, and a class for `isinstance`."
        body = {"dtype": d, "__module__": "torch", "__doc__": doc, "shown_as": f"torch.{name}"}
        return super().__new__(mcs, name, (), body)  # type: ignore[return-value]

    def __init__(cls, *args: Any) -> None:
        pass

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of the class's dtype."""
        return legacy_constructor(cls, *args, d=cls.dtype, **kwargs)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and device_of(obj) is CPU


for _d in dtypes.ALL:
    python(_d.tensor_type, TensorType(_d), method=False, function=True)
