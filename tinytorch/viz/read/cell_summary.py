"""Numbers for a storage that is too large to be shown: smallest, largest, mean, NaN and infinities.

Also a checksum of all its cells, by which two snapshots see a write to cells that neither has read.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

MOST_SUMMARIZED = 1 << 24
"""So many cells of one snapshot are read for it: about 50 ms. Of what comes then nothing is said."""
_CELLS_AT_ONCE = 1 << 20
"""A few MB of working memory, however large the storage is."""


class CellSummary(NamedTuple):
    """Numbers about all cells of a storage."""

    lowest: float
    """The smallest of the finite cells; `lowest`, `highest` and `mean` are 0 if there is none."""
    highest: float
    """The largest of them."""
    mean: float
    """Their mean, computed in float64."""
    finite: int
    """How many cells are finite."""
    nan: int
    """How many cells are NaN."""
    infinite: int
    """How many cells are infinite."""


def summarize_cells(cells: int, read: Callable[[int, int], Any]) -> CellSummary | None:
    """Summarize `cells` cells, which `read(start, length)` gives as a flat tensor without history.

    None for numbers that have no order (complex ones).
    """
    lowest, highest, total = np.inf, -np.inf, 0.0
    finite = nan = infinite = 0
    for values in _read_parts(cells, read):
        if values.dtype.kind not in "biuf":
            return None
        good = values
        # Integers and bools are finite: they need no mask.
        if values.dtype.kind == "f":
            is_finite = np.isfinite(values)
            if not is_finite.all():
                good = values[is_finite]
                part_nan = int(np.isnan(values).sum())
                nan += part_nan
                infinite += len(values) - len(good) - part_nan
        finite += len(good)
        if len(good):
            lowest, highest = min(lowest, good.min().item()), max(highest, good.max().item())
            total += good.sum(dtype=np.float64).item()
    if not finite:
        return CellSummary(0, 0, 0, 0, nan, infinite)
    return CellSummary(lowest, highest, total / finite, finite, nan, infinite)


def compute_checksum_of_cells(cells: int, read: Callable[[int, int], Any]) -> int:
    """Return a checksum of `cells` cells, which `read` gives as for `summarize_cells`."""
    checksum = 0
    for values in _read_parts(cells, read):
        checksum = zlib.crc32(values, checksum)
    return checksum


def _read_parts(cells: int, read: Callable[[int, int], Any]) -> Iterator[Any]:
    """Yield the cells as NumPy arrays."""
    for start in range(0, cells, _CELLS_AT_ONCE):
        part = read(start, min(_CELLS_AT_ONCE, cells - start))
        try:
            # Of a copy: PyTorch's `numpy()` makes a storage one that can never be resized again,
            # and FSDP gives the memory of parameters back by resizing.
            yield part.clone().numpy()
        except (TypeError, RuntimeError):
            # On another device, or of a dtype that NumPy does not have (bfloat16, float8).
            yield part.double().cpu().numpy()
