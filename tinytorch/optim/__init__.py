"""Optimisers.

Source: `torch.optim`.
"""

from typing import Any

from ..missing import missing
from . import lr_scheduler
from .adaptive import Adagrad, RMSprop
from .optimizer import Optimizer
from .steps import SGD, Adam, AdamW


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.optim' has no attribute '{}'", name)


__all__ = ["SGD", "Adagrad", "Adam", "AdamW", "Optimizer", "RMSprop", "lr_scheduler"]
