"""The operations. Each stands in one place: forward, backward node, documentation, torch's name."""

from . import added, contractions, copying, creation, diagonals, legacy, linalg, memory, pointwise_table, queries, randoms, ranges, reductions, shaped, softmax, solving, views
from . import arithmetic, arranging, bitwise, cumulative, extremes, joining, norms, pairs, promotion, sorting  # isort: skip
from . import indexing, masking, reshaping, scatter, selecting, splitting, view_inplace  # isort: skip
from .core import FUNCTIONS

__all__ = ["FUNCTIONS", "arithmetic", "arranging", "bitwise", "cumulative", "extremes", "joining", "norms", "pairs", "promotion", "sorting", "copying", "added", "contractions", "creation", "diagonals", "legacy", "linalg", "memory", "pointwise_table", "queries", "randoms", "ranges", "reductions", "shaped", "softmax", "solving", "indexing", "masking", "reshaping", "scatter", "selecting", "splitting", "view_inplace", "views"]
