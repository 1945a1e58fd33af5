"""The old constructors: `torch.Tensor(...)`, `torch.FloatTensor(...)` and its kin, and `x.new(...)`.

Sizes give an uninitialised tensor, a sequence gives its copy, a tensor gives an alias of itself.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .. import dtypes
from ..devices import CPU, as_device, device
from ..errors import ShownAs, type_name
from ..tensor import Size, Tensor, device_of, fresh
from .copies import alias
from .creation import check_size
from .define import python
from .from_data import array_of, finish, is_sequence
from .schema import MisfitError, Schema, Signature, mismatch

_OPTION_NAMES = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int", "int16": "short int",
                 "int8": "signed char", "uint8": "unsigned char", "bool": "bool", "float16": "c10::Half"}  # fmt: skip
_WAYS = [Signature(Schema(line), "new", False, False, False) for line in (
    "new(*, Device? device=None)", "new(Storage storage)", "new(Tensor other)", "new(Tensor other, *, Device? device=None)",
    "new(SymInt[] size, *, Device? device=None)", "new(PyObject data, *, Device? device=None)")]  # fmt: skip
_SHOWN = [s for s in _WAYS if not str(s).startswith("(Tensor other, *")]  # torch does not show this one


def _options(d: dtypes.dtype) -> str:
    return f"TensorOptions(dtype={_OPTION_NAMES.get(d.called, d.called)}, device=cpu, layout=Strided, requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"


def legacy_constructor(
    cls: type, *args: Any, d: dtypes.dtype | None = None, where: device = CPU, **named: Any
) -> Tensor:
    """A tensor as an old constructor makes it; `d` is the dtype of the class, None for `torch.Tensor` itself.

    TypeError for what no old constructor takes, RuntimeError for another device than the class's.
    """
    found = _read(args, named)
    given = found.pop("device", None)
    if given is not None and "other" in found:
        raise RuntimeError("Legacy tensor constructor of the form torch.Tensor(tensor, device=device) is not supported.  Use torch.tensor(...) or torch.as_tensor(...) instead.")  # fmt: skip
    if given is not None and as_device(given).type != where.type:
        theirs = as_device(given).type
        raise RuntimeError(f"legacy constructor expects device type: {where.type} but device type: {theirs} was passed")
    made = _made(found, d, where)
    if cls is not Tensor and isinstance(cls, type) and issubclass(cls, Tensor):
        made.__class__ = cls
    return made


def _read(args: tuple, named: dict) -> dict[str, Any]:
    """The arguments by name, by the first of torch's ways to read them that fits."""
    for way in _WAYS:
        try:
            found = way.match(args, named)
        except MisfitError:
            continue
        if args and found.get("size") is args[0] and not isinstance(args[0], Size):
            return {"data": args[0]} | {k: v for k, v in found.items() if k != "size"}  # only a Size alone gives sizes
        way.unpack(found)
        return found
    raise mismatch("new", _SHOWN, args, named)


def _made(found: dict, own: dtypes.dtype | None, where: device) -> Tensor:
    d = own or dtypes.get_default_dtype()
    if "other" in found:
        other = found["other"]
        if own is not None and other.dtype is not own:
            raise TypeError(f"expected {_options(own)} (got {_options(other.dtype)})")
        return alias(other)
    if "storage" in found:
        storage = found["storage"]
        kind = getattr(storage, "dtype", d)
        if kind is not d:
            raise RuntimeError(f"Expected a Storage of type {d.scalar_name} or an UntypedStorage, but got type {kind.scalar_name} for argument 1 'storage'")  # fmt: skip
        return fresh(np.empty(0, d.np), where).set_(storage)
    if "size" in found:
        size = tuple([n.__index__() for n in found["size"]])
        check_size(size)
        return finish(np.zeros(size, d.np), where)
    if "data" in found:
        data = found["data"]
        if not is_sequence(data) and not isinstance(data, (str, bytes)):
            raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
        return finish(array_of(data, d), where)
    return finish(np.empty(0, d.np), where)


def _new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """The old constructor: a tensor of this one's dtype and device from sizes or data."""
    return legacy_constructor(Tensor, *args, d=self.dtype, where=device_of(self), **kwargs)


python("new", _new, method=True, function=False)


class TensorType(ShownAs, type, metaclass=ShownAs):
    """The class of `torch.FloatTensor`: calling it makes a tensor of its dtype; it answers `isinstance` by dtype."""

    shown_as = "torch.tensortype"

    dtype: dtypes.dtype
    device: device
    is_sparse = False

    def __new__(mcs, name: str, d: dtypes.dtype, where: Any = CPU) -> Self:  # type: ignore[misc]
        """Make the class of tensors of one dtype on one device."""
        module = "torch" if where is CPU else "torch.cuda"
        doc = f"The old name of a `{d!r}` tensor: a constructor, and a class for `isinstance`."
        body = {"dtype": d, "device": where, "__module__": module, "__doc__": doc, "shown_as": f"{module}.{name}"}
        return super().__new__(mcs, name, (), body)  # type: ignore[return-value]

    def __init__(cls, *args: Any) -> None:
        pass

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of the class's dtype on its device."""
        return legacy_constructor(cls, *args, d=cls.dtype, where=cls.device, **kwargs)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and device_of(obj) is cls.device

    @property
    def is_cuda(cls) -> bool:
        """Whether its tensors lie on the cuda device."""
        return cls.device is not CPU


for _d in dtypes.ALL:
    if not _d.called.startswith("uint") or _d is dtypes.uint8:
        python(_d.tensor_type, TensorType(_d.tensor_type, _d), method=False, function=True)
