"""Batches of a data set, made in this process.

Source: `torch.utils.data.DataLoader`, `torch.utils.data.default_collate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ...dtypes import float64
from ...ops.core import FUNCTIONS
from ...random import Generator
from ...tensor import Tensor
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, drawn_seed


def default_convert(data: Any) -> Any:
    """NumPy arrays as tensors, in whatever they lie in; all else as it is."""
    if isinstance(data, (np.ndarray, np.generic)):
        return data if data.dtype.kind in "SaUO" else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return {k: default_convert(v) for k, v in data.items()}
    if isinstance(data, tuple):
        parts = [default_convert(v) for v in data]
        return type(data)(*parts) if hasattr(data, "_fields") else parts
    if isinstance(data, list):
        return [default_convert(v) for v in data]
    return data


def default_collate(batch: Any) -> Any:
    """Samples as one batch: tensors stacked, numbers as a tensor, mappings and sequences place by place.

    TypeError for other things, RuntimeError for sequences of different lengths.
    """
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](list(batch), 0)
    if isinstance(first, (np.ndarray, np.generic)) and first.dtype.kind not in "SaUO":
        arrays = [FUNCTIONS["as_tensor"](b) for b in batch]
        return (
            FUNCTIONS["stack"](arrays, 0)
            if isinstance(first, np.ndarray) and first.ndim
            else FUNCTIONS["as_tensor"](batch)
        )
    if isinstance(first, float):
        return FUNCTIONS["tensor"](batch, dtype=float64)
    if isinstance(first, int):
        return FUNCTIONS["tensor"](batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, Sequence):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        parts = [default_collate(samples) for samples in zip(*batch, strict=True)]
        return type(first)(*parts) if isinstance(first, tuple) and hasattr(first, "_fields") else parts
    raise TypeError(
        f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}"
    )


class DataLoader:
    """Goes through a data set by batches, in order or shuffled. ValueError for options that exclude each other.

    The batches are the same whatever `num_workers` says: they are made in this process.
    """

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Any = None,
        batch_sampler: Any = None, num_workers: int = 0, collate_fn: Callable | None = None, pin_memory: bool = False,
        drop_last: bool = False, timeout: float = 0, worker_init_fn: Any = None, multiprocessing_context: Any = None,
        generator: Generator | None = None, *, prefetch_factor: Any = None, persistent_workers: bool = False,
        pin_memory_device: str = "", in_order: bool = True,
    ) -> None:  # fmt: skip
        _check(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers, self.pin_memory, self.timeout = dataset, num_workers, pin_memory, timeout
        self.worker_init_fn, self.generator = worker_init_fn, generator
        iterable = isinstance(dataset, IterableDataset)
        _check_iterable(iterable, shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None and not iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        batched = batch_sampler is not None or batch_size is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)

    def __iter__(self) -> Iterator[Any]:
        drawn_seed(self.generator)  # torch draws one for workers, whether there are any or not
        return self._batches()

    def _batches(self) -> Iterator[Any]:
        if isinstance(self.dataset, IterableDataset):
            yield from self._of_iterable()
        elif self.batch_sampler is None:
            for i in self.sampler:
                yield self.collate_fn(self.dataset[i])
        else:
            for indices in self.batch_sampler:
                several = getattr(self.dataset, "__getitems__", None)
                yield self.collate_fn(several(indices) if several else [self.dataset[i] for i in indices])

    def _of_iterable(self) -> Iterator[Any]:
        if self.batch_size is None:
            for sample in self.dataset:
                yield self.collate_fn(sample)
            return
        batch: list[Any] = []
        for sample in self.dataset:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            n = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return n
            return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)


def _check(num_workers: int, timeout: float, prefetch_factor: Any, persistent_workers: bool) -> None:
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable "
            "multiprocessing, otherwise set prefetch_factor to None."
        )
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_iterable(iterable: bool, shuffle: bool | None, sampler: Any, batch_sampler: Any) -> None:
    if not iterable:
        return
    start = "DataLoader with IterableDataset: expected unspecified"
    if shuffle:
        raise ValueError(f"{start} shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"{start} sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(f"{start} batch_sampler option, but got batch_sampler={batch_sampler}")


__all__ = ["DataLoader", "default_collate", "default_convert"]
