"""Automatic differentiation: backward, custom functions, and the modes they run in.

Source: `torch.autograd`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base import make_module_getattr
from ..graph import (
    SavedTensor,
    detect_anomaly,
    enable_grad,
    inference_mode,
    modes,
    no_grad,
    set_detect_anomaly,
    set_grad_enabled,
)
from . import api as api, function, graph
from .api import Variable, backward, grad
from .finite_differences import gradcheck
from .function import Function
from .graph import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from .graph import unsafe_set_version_counter as unsafe_set_version_counter

# PyTorch splits these into modules, and programs import them by name.
anomaly_mode = grad_mode = modes

__all__ = [
    "Function",
    "SavedTensor",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "function",
    "grad",
    "grad_mode",
    "gradcheck",
    "graph",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]


if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.autograd")
