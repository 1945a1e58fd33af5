"""Automatic differentiation: gradients, custom functions, and the graph they run on.

Source: `torch.autograd`.
"""

from __future__ import annotations

from ..graph.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import anomaly_mode, function, grad_mode, graph, variable
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .derivatives import backward, grad
from .function import Function
from .variable import Variable

__all__ = [
    "Function", "Variable", "anomaly_mode", "backward", "detect_anomaly", "enable_grad", "function", "grad",
    "grad_mode", "graph", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled", "variable",
]  # fmt: skip
