"""Neural networks, enough to train and to meet the pitfalls of copying. Source: `torch.nn`."""

from typing import Any

from ..errors import missing
from . import functional, init, parameter, utils
from .containers import ModuleDict, ModuleList, ParameterDict, ParameterList, Sequential
from .layers import (
    BCELoss,
    BCEWithLogitsLoss,
    CrossEntropyLoss,
    Dropout,
    Flatten,
    Identity,
    L1Loss,
    Linear,
    LogSoftmax,
    MSELoss,
    NLLLoss,
    ReLU,
    Sigmoid,
    Softmax,
    Tanh,
)
from .module import Module
from .parameter import Buffer, Parameter

__all__ = [
    "BCELoss", "BCEWithLogitsLoss", "Buffer", "CrossEntropyLoss", "Dropout", "Flatten", "Identity", "L1Loss", "Linear",
    "LogSoftmax", "MSELoss", "Module", "ModuleDict", "ModuleList", "NLLLoss", "Parameter", "ParameterDict",
    "ParameterList", "ReLU", "Sequential", "Sigmoid", "Softmax", "Tanh", "functional", "init", "parameter", "utils",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    raise missing("module 'torch.nn' has no attribute '{}'", name)
