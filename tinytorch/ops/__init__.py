"""The operations. Each stands in one place: forward, backward node, documentation, torch's name."""

from . import copying, creation, legacy, linalg, memory, pointwise_table, randoms, ranges, reductions, views
from .core import FUNCTIONS

__all__ = ["FUNCTIONS", "copying", "creation", "legacy", "linalg", "memory", "pointwise_table", "randoms", "ranges", "reductions", "views"]
