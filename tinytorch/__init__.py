"""PyTorch's storages, views, version counters and autograd in NumPy, small enough to read.

`import tinytorch as torch` runs the same programs with the same printout. It needs NumPy alone;
`tinytorch.viz`, which draws memory and graphs, is loaded on first use.
"""

from __future__ import annotations

import importlib as _importlib
import math
from typing import TYPE_CHECKING, Any

from .base import pause_collection as _pause_collection

# All that is made here stays. Looking among it for garbage took a fifth of the time of the import.
with _pause_collection():
    from .base import dtypes as _dtypes
    from . import random as random
    from .graph import (
        enable_grad as enable_grad,
        inference_mode as inference_mode,
        no_grad as no_grad,
    )
    from .graph import set_grad_enabled as set_grad_enabled
    from .base import device as device
    from .base import (
        dtype as dtype,
        finfo as finfo,
        iinfo as iinfo,
        set_default_dtype as set_default_dtype,
    )
    from .base import (
        is_warn_always_enabled as is_warn_always_enabled,
        make_attribute_error as _missing,
    )
    from .base import set_warn_always as set_warn_always
    from .base import set_printoptions as set_printoptions
    from .random import (
        Generator as Generator,
        default_generator as default_generator,
        get_rng_state as get_rng_state,
        initial_seed as initial_seed,
        manual_seed as manual_seed,
        seed as seed,
        set_rng_state as set_rng_state,
    )
    from .base import UntypedStorage as UntypedStorage
    from .tensor import Layout as _Layout, Size as Size, Tensor as Tensor, strided as strided
    from .tracebacks import shorten_tracebacks as _shorten_tracebacks

    from .ops import copies as _copies
    from .ops import creation, filling, indexing, memory, pointwise, reductions, views
    from .ops import linalg as _
    from .ops import MemoryFormat as _MemoryFormat
    from .ops import contiguous_format as contiguous_format, preserve_format as preserve_format
    from .ops import (
        get_default_dtype as get_default_dtype,
        is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled,
        is_anomaly_enabled as is_anomaly_enabled,
        is_grad_enabled as is_grad_enabled,
        is_inference_mode_enabled as is_inference_mode_enabled,
        set_anomaly_enabled as set_anomaly_enabled,
    )
    from .ops import FUNCTIONS as _FUNCTIONS, find_function as _find_function
    from . import _C as _C, alias as _alias, autograd as autograd
    from .autograd import api as _api  # which gives tensors their `backward`

if TYPE_CHECKING:  # what is put here, or loaded, when the program runs
    from typing_extensions import TypeIs

    from . import cuda as cuda
    from . import nn as nn
    from . import optim as optim
    from . import utils as utils
    from . import viz as viz
    from ._declared import *  # noqa: F403
    from .saving import load as load
    from .saving import save as save

__version__ = "0.1.0"
_shorten_tracebacks()

del views, creation, filling, memory, indexing, _, pointwise, reductions
del globals()["tensor"]  # the module: a function has this name, too
globals().update(_dtypes.BY_NAME)

layout, memory_format = _Layout, _MemoryFormat
e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


def is_tensor(obj: Any) -> TypeIs[Tensor]:
    """Return True for a tensor."""
    return isinstance(obj, Tensor)


# Names that are imported when they are first used, and their modules. Functions are made then, too.
_LATER = {"load": "saving", "save": "saving"}
_MODULES = ("cuda", "nn", "optim", "utils", "viz")


def _find_later(name: str) -> Any:
    if name in _MODULES:
        return _importlib.import_module(f".{name}", __name__)
    if name in _LATER:
        return getattr(_importlib.import_module(f".{_LATER[name]}", __name__), name)
    function = _find_function(name)
    if function is None:
        raise _missing("module 'torch' has no attribute '{}'", name)
    # From now on Python finds it without this function.
    return globals().setdefault(name, function)


def _list_names() -> list[str]:
    return sorted({*globals(), *_MODULES, *_LATER, *_FUNCTIONS})


if not TYPE_CHECKING:  # to type checkers a name that is not above is an error
    __getattr__, __dir__ = _find_later, _list_names
    _OWN = ("Any", "TYPE_CHECKING", "annotations", "math")
    __all__ = [n for n in _list_names() if n[0] != "_" and n not in _OWN]
