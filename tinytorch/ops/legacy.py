"""The old class names, `torch.FloatTensor` and its like: constructors that also answer `isinstance` by dtype."""

from __future__ import annotations

from typing import Any, Self

from .. import dtypes
from ..devices import CPU, device, set_default_device
from ..naming import ShownAs
from ..tensor import Tensor
from ..warn import warn_in_torch
from .core import FUNCTIONS
from .creation import legacy_constructor
from .shaped import moved


class TensorType(ShownAs, type, metaclass=ShownAs):
    """The class of `torch.FloatTensor`: calling it makes a tensor of its dtype, on its device."""

    shown_as = "torch.tensortype"

    dtype: dtypes.dtype
    device: device
    is_sparse = False

    def __new__(mcs, name: str, d: dtypes.dtype, where: Any = CPU) -> Self:  # type: ignore[misc]
        """Make the class of tensors of one dtype on one device."""
        doc = f"The old name of a `{d!r}` tensor: a constructor, and a class for `isinstance`."
        module = "torch" if where is CPU else "torch.cuda"
        body = {"dtype": d, "device": where, "__module__": module, "__doc__": doc, "shown_as": f"{module}.{name}"}
        return super().__new__(mcs, name, (), body)  # type: ignore[return-value]

    def __init__(cls, *args: Any) -> None:
        pass

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Make a tensor of the class's dtype on its device."""
        return moved(legacy_constructor(cls, *args, d=cls.dtype, **kwargs), cls.device)

    def __instancecheck__(cls, obj: Any) -> bool:
        return isinstance(obj, Tensor) and obj.dtype is cls.dtype and obj._device is cls.device

    @property
    def is_cuda(cls) -> bool:
        """Whether its tensors lie on the cuda device."""
        return cls.device is not CPU


for _d in dtypes.ALL:
    if not _d.called.startswith("uint") or _d is dtypes.uint8:
        FUNCTIONS[_d.tensor_type] = TensorType(_d.tensor_type, _d)


def set_default_tensor_type(t: type | str, /) -> None:
    """Make Python floats become the dtype of an old type, `torch.DoubleTensor` or its name; deprecated in torch too.

    TypeError for what is no floating point type. Source: `torch.set_default_tensor_type`.
    """
    if isinstance(t, str):
        where, _, name = t.rpartition(".")
        if where != "torch" or not isinstance(FUNCTIONS.get(name), TensorType):
            raise ModuleNotFoundError(f"No module named '{where or name}'")
        t = FUNCTIONS[name]
    warn_in_torch(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.",
        "torch/csrc/tensor/python_tensor.cpp:434",
        once=True,
    )
    if not isinstance(t, TensorType):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    dtypes.set_default_dtype(t.dtype)
    set_default_device(t.device)


FUNCTIONS["set_default_tensor_type"] = set_default_tensor_type
