"""Data sets, the order in which to go through them, and batches.

Source: `torch.utils.data`.
"""

from typing import Any

from ...missing import missing
from . import dataloader, dataset, sampler
from .dataloader import DataLoader, default_collate, default_convert
from .dataset import ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.utils.data' has no attribute '{}'", name)


__all__ = [
    "BatchSampler",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "dataloader",
    "dataset",
    "default_collate",
    "default_convert",
    "random_split",
    "sampler",
]
