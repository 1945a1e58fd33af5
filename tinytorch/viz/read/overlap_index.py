"""Which of many tensors over one storage overlap another, found without a look at all of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from .records import TensorRecord


class OverlapIndex:
    """Some tensors over one storage, by where each begins and ends.

    Thousands of rows of one matrix are sought for each of thousands of others: compared pair by
    pair, 1,000 took 10 seconds.
    """

    def __init__(self, tensors: Sequence[TensorRecord]) -> None:
        self._order = {tensor.id: index for index, tensor in enumerate(tensors)}
        self._tensors = sorted(tensors, key=lambda tensor: tensor.start_byte)
        self._starts = [tensor.start_byte for tensor in self._tensors]
        self._furthest = list(accumulate((tensor.stop_byte() for tensor in self._tensors), max))
        """For each tensor, where the furthest of those up to it ends."""

    def find_overlapping(self, tensor: TensorRecord) -> list[TensorRecord]:
        """Return those of the tensors that overlap one over the same storage, in their order."""
        start, stop = tensor.start_byte, tensor.stop_byte()
        found = []
        index = bisect_left(self._starts, stop)
        # Where this ends, none of the tensors before it reaches so far.
        while index and self._furthest[index - 1] > start:
            index -= 1
            if self._tensors[index].overlaps(tensor):
                found.append(self._tensors[index])
        return sorted(found, key=lambda other: self._order[other.id])
