"""Automatic differentiation: gradients, custom functions, and the graph they run on.

Source: `torch.autograd`.
"""

from __future__ import annotations

from ..graph.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import graph
from .derivatives import backward, grad

__all__ = ["backward", "enable_grad", "grad", "graph", "inference_mode", "no_grad", "set_grad_enabled"]
