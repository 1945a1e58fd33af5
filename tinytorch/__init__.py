"""tinytorch: PyTorch's storages, views, version counters and autograd in NumPy, small enough to read.

`import tinytorch as torch` runs the same programs with the same printout. It needs NumPy alone; `tinytorch.viz`, which
draws memory and graphs, is loaded on first use.
"""

from __future__ import annotations

import math
from typing import Any

from . import dtypes as _dtypes
from . import printing as _printing
from . import random
from .devices import device, get_default_device, set_default_device
from .dtypes import dtype, finfo, get_default_dtype, iinfo, set_default_dtype
from .graph.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled, set_anomaly_enabled
from .graph.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .missing import missing as _missing
from .ops.copying import MemoryFormat as memory_format
from .ops.copying import channels_last, channels_last_3d, contiguous_format, preserve_format
from .printing import set_printoptions
from .random import Generator, default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state
from .settings import (
    are_deterministic_algorithms_enabled,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_flush_denormal,
    set_num_threads,
    use_deterministic_algorithms,
)
from .storage import UntypedStorage
from .tensor import Layout as layout
from .tensor import Size, Tensor, strided
from .warn import is_warn_always_enabled, set_warn_always

from .ops import FUNCTIONS as _FUNCTIONS  # isort: skip
from .typed_storage import TypedStorage  # isort: skip
from . import _C, alias as _alias, autograd, cuda, linalg  # isort: skip
from .serialization import load, save  # isort: skip

__version__ = "0.1.0"

globals().update(_FUNCTIONS)
_printing.default_dtype = get_default_dtype
globals().update(_dtypes.BY_NAME)


e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi


def is_tensor(obj: Any) -> bool:
    """Whether an object is a tensor."""
    return isinstance(obj, Tensor)


# what is loaded when it is first asked for
_LATER = ("backends", "func", "nn", "optim", "special", "testing", "utils", "version", "viz")

# What torch has here as well as in `nn.functional`, with the same arguments.
_ALSO_HERE = ("celu", "celu_", "cosine_similarity", "dropout", "hardshrink", "layer_norm", "pairwise_distance", "prelu",
              "selu", "selu_", "threshold", "threshold_")  # fmt: skip


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LATER:
        return importlib.import_module(f".{name}", __name__)
    if name in _ALSO_HERE:
        return getattr(importlib.import_module(".nn.functional", __name__), name)
    raise _missing("module 'torch' has no attribute '{}'", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_ALSO_HERE})


__all__ = [n for n in globals() if not n.startswith("_") and n not in ("Any", "annotations")] + [
    "backends",
    "func",
    "nn",
    "optim",
    "special",
    "testing",
    "utils",
    "version",
]
