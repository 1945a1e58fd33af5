"""What programs set before they start: determinism, threads, precision. Remembered and told back as torch does.

Nothing here changes a result: every operation here is deterministic, and NumPy chooses its own threads. Determinism
fills new memory, though, so that nobody mistakes it for numbers.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .naming import type_name
from .warn import warn_in_torch

_DEBUG_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")
_state: dict[str, Any] = {"deterministic": False, "warn_only": False, "threads": None, "precision": "highest"}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Ask for deterministic algorithms; they are so anyway. TypeError for anything but a bool.

    Source: `torch.use_deterministic_algorithms`.
    """
    if type(mode) is not bool:
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not " + type_name(mode)
        )
    if type(warn_only) is not bool:
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'warn_only' must be bool, not " + type_name(warn_only)
        )
    _state.update(deterministic=mode, warn_only=warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether deterministic algorithms were asked for. Source: `torch.are_deterministic_algorithms_enabled`."""
    return _state["deterministic"]


def mark_unset(a: np.ndarray) -> None:
    """Where determinism was asked for, fill memory that nobody wrote to: with nan, true or the largest integer.

    Source: `torch.utils.deterministic.fill_uninitialized_memory`.
    """
    if _state["deterministic"]:
        a[...] = np.iinfo(a.dtype).max if a.dtype.kind in "iu" else True if a.dtype.kind == "b" else np.nan


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether a warning was asked for in place of an error.

    Source: `torch.is_deterministic_algorithms_warn_only_enabled`.
    """
    return _state["warn_only"]


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """The same as a word or a number: "default" 0, "warn" 1, "error" 2. TypeError, RuntimeError for any other.

    Source: `torch.set_deterministic_debug_mode`.
    """
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _DEBUG_MODES:
            raise RuntimeError(
                f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
            )
        debug_mode = _DEBUG_MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2. Source: `torch.get_deterministic_debug_mode`."""
    return 0 if not _state["deterministic"] else 1 if _state["warn_only"] else 2


def set_num_threads(num: int, /) -> None:
    """Remember a number of threads; NumPy's own stays. RuntimeError if it is not a positive int.

    Source: `torch.set_num_threads`.
    """
    if not isinstance(num, int) or isinstance(num, bool):
        raise RuntimeError(f"set_num_threads expects an int, but got {type_name(num)}")
    if num < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _state["threads"] = num


def get_num_threads() -> int:
    """The number of threads that was set, else that of the processors. Source: `torch.get_num_threads`."""
    return _state["threads"] or os.cpu_count() or 1


def set_float32_matmul_precision(precision: str) -> None:
    """Remember "highest", "high" or "medium"; products of float32 keep their full precision.

    Source: `torch.set_float32_matmul_precision`.
    """
    if not isinstance(precision, str):
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {type_name(precision)}")
    if precision not in _PRECISIONS:
        warn_in_torch(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has no "
            "effect.",
            "aten/src/ATen/Context.cpp:458",
        )
        return
    _state["precision"] = precision


def get_float32_matmul_precision() -> str:
    """The word that was set. Source: `torch.get_float32_matmul_precision`."""
    return _state["precision"]


def set_flush_denormal(mode: bool) -> bool:
    """Whether numbers too small for full precision become zero: cannot be set in NumPy, so the answer is False.

    torch answers True where the processor can. Source: `torch.set_flush_denormal`.
    """
    return False


__all__ = ["are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
           "get_num_threads", "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
           "set_float32_matmul_precision", "set_flush_denormal", "set_num_threads",
           "use_deterministic_algorithms"]  # fmt: skip
