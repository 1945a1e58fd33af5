"""Snapshots: plain data about the tensors of either engine."""

from .module_paths import modules
from .naming import collect
from .probe import engine_name, is_tensor, quietly, undisturbed, version_of
from .reader import read, snapshot
from .records import Node, Saved, Snapshot, Storage, Tensor

__all__ = [
    "Node",
    "Saved",
    "Snapshot",
    "Storage",
    "Tensor",
    "collect",
    "engine_name",
    "is_tensor",
    "modules",
    "quietly",
    "read",
    "snapshot",
    "undisturbed",
    "version_of",
]
