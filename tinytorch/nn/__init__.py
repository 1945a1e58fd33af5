"""Neural networks, enough to train and to meet the pitfalls of copying. Source: `torch.nn`."""

from typing import TYPE_CHECKING

from ..base import make_module_getattr
from . import functional, init, parameter

from .layers import BCEWithLogitsLoss, CrossEntropyLoss, MSELoss, NLLLoss  # isort: skip
from .layers import (
    Dropout,
    Flatten,
    Identity,
    Linear,
    ModuleList,
    ReLU,
    Sequential,
    Sigmoid,
    Softmax,
    Tanh,
)  # isort: skip
from .module import Module
from .module import forget_grads as forget_grads
from .module import typename as typename
from .parameter import Parameter

__all__ = [
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "Dropout",
    "Flatten",
    "Identity",
    "Linear",
    "MSELoss",
    "Module",
    "ModuleList",
    "NLLLoss",
    "Parameter",
    "ReLU",
    "Sequential",
    "Sigmoid",
    "Softmax",
    "Tanh",
    "functional",
    "init",
    "layers",
    "module",
    "parameter",
]
if not TYPE_CHECKING:  # type checkers report a missing name themselves
    __getattr__ = make_module_getattr("torch.nn")
