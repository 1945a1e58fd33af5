"""Data sets: samples by their number.

Source: `torch.utils.data.dataset`.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Any, Generic, TypeVar

from ...ops.randoms import randperm
from ...random import Generator, default_generator
from ...tensor import Tensor
from ...warn import warn_user

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A subclass defines `__getitem__` and, to be gone through by batches, `__len__`."""

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset) -> ConcatDataset:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """A subclass defines `__iter__`: samples that come one after another."""


class TensorDataset(Dataset):
    """Tensors of one length, whose elements with one number are a sample. AssertionError if the lengths differ."""

    def __init__(self, *tensors: Tensor) -> None:
        if any(tensors[0].size(0) != t.size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].size(0)


class ConcatDataset(Dataset):
    """Several data sets one after another. AssertionError for none, and for those without numbers."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[which][idx - (self.cumulative_sizes[which - 1] if which else 0)]


class Subset(Dataset):
    """The samples of a data set with certain numbers."""

    def __init__(self, dataset: Dataset, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Generator = default_generator) -> list[Subset]:
    """Parts of a data set, drawn at random: `lengths` are numbers of samples, or fractions of 1.

    ValueError if they do not add up to the whole.
    """
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _from_fractions(lengths, len(dataset))
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = randperm(int(sum(lengths)), generator=generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths, strict=True)]


def _from_fractions(fractions: Sequence[float], size: int) -> list[int]:
    for i, part in enumerate(fractions):
        if not 0 <= part <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    found = [math.floor(size * part) for part in fractions]
    for i in range(size - sum(found)):
        found[i % len(found)] += 1
    for i, n in enumerate(found):
        if n == 0:
            warn_user(f"Length of split at index {i} is 0. This might result in an empty dataset.")
    return found


__all__ = ["ConcatDataset", "Dataset", "IterableDataset", "Subset", "TensorDataset", "random_split"]
