"""Neural networks, enough to train and to meet the pitfalls of copying. Source: `torch.nn`."""

from typing import Any

from ..errors import missing
from . import functional, init, parameter, utils  # noqa: F401 - offered under torch's names, as all that follows
from .containers import ModuleDict, ModuleList, Sequential  # noqa: F401
from .layers import (  # noqa: F401  # noqa: F401
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Dropout,
    Flatten,
    Identity,
    L1Loss,
    Linear,
    MSELoss,
    NLLLoss,
    ReLU,
    Sigmoid,
    Softmax,
    Tanh,
)
from .module import Module  # noqa: F401
from .parameter import Buffer, Parameter  # noqa: F401


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)
