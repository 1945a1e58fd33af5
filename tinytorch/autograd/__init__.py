"""Automatic differentiation: gradients, custom functions, and the graph they run on.

Source: `torch.autograd`.
"""

from __future__ import annotations

from ..graph.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..graph.saved import SavedTensor
from ..missing import missing
from . import anomaly_mode, attributes, function, functional, grad_mode, graph
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .derivatives import _calculate_shape, backward, grad
from .function import Function
from .grad_mode import _unsafe_preserve_version_counter, is_multithreading_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable


def variable(*args: object, **kwargs: object) -> None:
    """Gone from torch, which says so in a RuntimeError; the module of this name is imported as in torch."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


def __getattr__(name: str) -> object:
    raise missing("module 'torch.autograd' has no attribute '{}'", name)


__all__ = [
    "Function", "SavedTensor", "Variable", "_calculate_shape", "_unsafe_preserve_version_counter", "anomaly_mode",
    "attributes", "backward", "detect_anomaly", "enable_grad", "function", "functional",
    "grad", "grad_mode", "gradcheck", "gradgradcheck", "graph", "inference_mode",
    "is_multithreading_enabled", "no_grad",
    "set_detect_anomaly", "set_grad_enabled", "set_multithreading_enabled", "variable",
]  # fmt: skip
