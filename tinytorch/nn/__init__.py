"""Neural networks, enough to train and to meet the pitfalls of copying. Source: `torch.nn`."""

from typing import Any

from ..errors import missing
from . import functional, init, parameter, utils  # noqa: F401 - offered under torch's names, as all that follows
from .layers import (  # noqa: F401
    BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, Dropout, Flatten, Identity, L1Loss, Linear, ModuleList, MSELoss, NLLLoss,
    ReLU, Sequential, Sigmoid, Softmax, Tanh,
)  # fmt: skip
from .module import Module  # noqa: F401
from .parameter import Parameter  # noqa: F401

__all__ = [name for name in dir() if name[0] != "_" and name not in ("Any", "missing")]


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)
