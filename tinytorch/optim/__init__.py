"""Optimisers.

Source: `torch.optim`.
"""

from typing import Any

from ..missing import missing
from .optimizer import Optimizer
from .steps import SGD, Adam, AdamW


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.optim' has no attribute '{}'", name)


__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
