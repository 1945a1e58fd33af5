"""tinytorch: PyTorch's storages, views, version counters and autograd in NumPy, small enough to read.

`import tinytorch as torch` runs the same programs with the same printout. It needs NumPy alone; `tinytorch.viz`, which
draws memory and graphs, is loaded on first use.
"""

from __future__ import annotations

import math
from typing import Any

from . import dtypes as _dtypes
from . import random
from .autograd.modes import (
    enable_grad,
    inference_mode,
    is_anomaly_check_nan_enabled,
    is_anomaly_enabled,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_anomaly_enabled,
    set_grad_enabled,
)
from .devices import device
from .dtypes import dtype, get_default_dtype, set_default_dtype
from .errors import is_warn_always_enabled, set_warn_always
from .errors import missing as _missing
from .printing import set_printoptions
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .storage import UntypedStorage
from .tensor import Layout as layout
from .tensor import Size, Tensor, strided
from .tracebacks import shorten as _shorten

from .ops import copies as _copies  # isort: skip
from .ops import creation, filling, indexing, memory, pointwise, reductions, views  # isort: skip
from .ops import linalg as _  # isort: skip
from .ops.copies import MemoryFormat as memory_format, contiguous_format, preserve_format  # isort: skip
from .ops.define import FUNCTIONS as _FUNCTIONS  # isort: skip
from . import _C, alias as _alias, autograd, cuda  # isort: skip
from .autograd import api as _api  # isort: skip - which gives tensors their `backward`

__version__ = "0.1.0"
_shorten()

del views, creation, filling, memory, indexing, _, pointwise, reductions
globals().update(_FUNCTIONS)
globals().update(_dtypes.BY_NAME)

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


# what is loaded when it is first asked for, by where it stands
_LATER = {"load": "saving", "save": "saving"}
_MODULES = ("nn", "optim", "viz")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    raise _missing("module 'torch' has no attribute '{}'", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_LATER})


__all__ = [n for n in (*globals(), *_LATER, *_MODULES) if n[0] != "_" and n not in ("Any", "annotations", "math")]
