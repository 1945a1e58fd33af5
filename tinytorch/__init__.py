"""tinytorch: PyTorch's storages, views, version counters and autograd in NumPy, small enough to read.

`import tinytorch as torch` runs the same programs with the same printout. It needs NumPy alone; `tinytorch.viz`, which
draws memory and graphs, is loaded on first use.
"""

from __future__ import annotations

from typing import Any

from . import dtypes as _dtypes
from .devices import device
from .dtypes import dtype, finfo, get_default_dtype, iinfo, promote_types, set_default_dtype
from .graph.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .storage import UntypedStorage
from .tensor import Size, Tensor, strided
from .ops import FUNCTIONS as _FUNCTIONS  # isort: skip
from . import autograd  # isort: skip

__version__ = "0.1.0"

globals().update(_FUNCTIONS)
globals().update(_dtypes.BY_NAME)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


def __getattr__(name: str) -> Any:
    if name == "viz":
        import importlib

        return importlib.import_module(".viz", __name__)
    error = AttributeError(f"module 'torch' has no attribute '{name}'")
    error.add_note(f"tinytorch has no '{name}'. Where PyTorch has it, see https://docs.pytorch.org/docs/stable/")
    raise error


__all__ = ["Size", "Tensor", "UntypedStorage", "autograd", "device", "dtype", "enable_grad", "finfo", "get_default_dtype",
           "iinfo", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled", "is_tensor", "no_grad",
           "promote_types", "set_default_dtype", "set_grad_enabled", "strided", *_FUNCTIONS]  # fmt: skip
