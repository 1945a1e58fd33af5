"""The operations. Each stands in one place: forward, backward node, documentation, torch's name."""

from . import copying, creation, memory, pointwise_table, reductions, views
from .core import FUNCTIONS

__all__ = ["FUNCTIONS", "copying", "creation", "memory", "pointwise_table", "reductions", "views"]
